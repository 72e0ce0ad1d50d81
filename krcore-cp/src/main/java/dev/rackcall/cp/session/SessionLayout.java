package dev.rackcall.cp.session;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.cp.ControlPlaneException;
import java.lang.invoke.VarHandle;

/**
 * The memory that a tenant's process shares with the agent process: one ring of entries from the tenant, and a place
 * for each virtual queue or port, which only the agent writes. Numbers are in the machine's byte order.
 *
 * <pre>
 *   header:  +64 watched (4): whether the agent polls the ring
 *            +128 taken (8): entries that the agent has taken
 *   entry:   +0 sequence (8), its number from 1, stored last
 *            +8 kind (4) | +12 place (4) | +16 id (8) | +24 opcode (4) | +28 flags (4)
 *            +32 remote address, or host (8) | +40 remote key, port, or whether there is a control address (4)
 *            +44 segments (4) | +48 compare or add (8) | +56 swap (8)
 *            +64 four segments: address (8), length (4), key (4) | +128 inline bytes (64)
 *   place:   +0 reply (8), the id of the last entry that was answered, stored last
 *            +8 outcome (4) | +12 epoch (4) | +16 completions before this queue (8) | +24 requests ended (8)
 *            +32 failed (4) | +36 length of the text (4) | +40 completions of this place (8) | +64 text (448)
 *            +512 completions: sequence (8), from 1, stored last | id (8) | bytes (4) | status (4) | opcode (4)
 *                              | spare (4) | host, of a message (8)
 * </pre>
 */
public final class SessionLayout {
    /** The version of the messages on the socket and of this memory. */
    public static final int VERSION = 3;

    public static final int NOTHING = 0;
    public static final int REQUEST = 1;
    public static final int CONNECT = 2;
    public static final int CLOSE = 3;
    /** Binds a port at the place. */
    public static final int BIND = 4;
    /** Flag of a BIND: the agent rings after each message. */
    public static final int TELLS = 1;
    /** Gives memory for a message to the port, as the first segment. */
    public static final int GIVE = 5;

    /** Outcome of a CONNECT or BIND; any other is 1 + the ordinal of a {@link ControlPlaneException.Kind}. */
    public static final int OPEN = 0;

    public static final long WATCHED = 64;
    public static final long TAKEN = 128;

    public static final long KIND = 8;
    public static final long PLACE = 12;
    public static final long ID = 16;
    public static final long OPCODE = 24;
    public static final long FLAGS = 28;
    public static final long REMOTE_ADDRESS = 32;
    public static final long REMOTE_KEY = 40;
    public static final long SEGMENTS = 44;
    public static final long COMPARE = 48;
    public static final long SWAP = 56;
    public static final long SEGMENT = 64;
    public static final long SEGMENT_LENGTH = 8;
    public static final long SEGMENT_KEY = 12;
    public static final long SEGMENT_BYTES = 16;
    public static final int MAX_SEGMENTS = 4;
    public static final long INLINE = 128;
    public static final int MAX_INLINE = 64;
    /** A control address in the inline bytes: GID (16), queue pair (4). */
    public static final long GID_LOW = INLINE + 8;

    public static final long GID_NUMBER = INLINE + 16;

    public static final long OUTCOME = 8;
    public static final long EPOCH = 12;
    public static final long BASE = 16;
    public static final long ENDED = 24;
    public static final long FAILED = 32;
    public static final long TEXT_LENGTH = 36;
    public static final long PRODUCED = 40;
    public static final long TEXT = 64;
    public static final int MAX_TEXT = 448;

    public static final long COMPLETION_ID = 8;
    public static final long COMPLETION_BYTES = 16;
    public static final long COMPLETION_STATUS = 20;
    public static final long COMPLETION_OPCODE = 24;
    public static final long COMPLETION_HOST = 32;

    /** Access to values that the other side polls: sequences, replies, counts. */
    public static final VarHandle LONG = JAVA_LONG.varHandle();

    public static final VarHandle INT = JAVA_INT.varHandle();

    private static final long HEADER_BYTES = 4096;
    private static final long ENTRY_BYTES = 192;
    private static final long COMPLETIONS = 512;
    private static final long COMPLETION_ENTRY_BYTES = 40;

    private final int entries;
    private final int places;
    private final int depth;

    /**
     * @param entries of the ring
     * @param places virtual queues at a time
     * @param depth requests of one virtual queue that may be in flight or wait to be popped
     */
    public SessionLayout(int entries, int places, int depth) {
        if (entries < 1 || entries > 1 << 16 || places < 1 || places > 1 << 20 || depth < 1 || depth > 1 << 16) {
            throw new IllegalArgumentException("not the size of a session: " + entries + " entries, " + places
                    + " places, " + depth + " requests a queue");
        }
        this.entries = entries;
        this.places = places;
        this.depth = depth;
    }

    public int entries() {
        return entries;
    }

    public int places() {
        return places;
    }

    public int depth() {
        return depth;
    }

    public long byteSize() {
        return place(places);
    }

    /** The offset of the entry with this number, from 0. */
    public long entry(long number) {
        return HEADER_BYTES + number % entries * ENTRY_BYTES;
    }

    public long place(int index) {
        return HEADER_BYTES + entries * ENTRY_BYTES + index * (COMPLETIONS + depth * COMPLETION_ENTRY_BYTES);
    }

    /** The offset of the completion with this number, from 0, in a place. */
    public long completion(long place, long number) {
        return place + COMPLETIONS + number % depth * COMPLETION_ENTRY_BYTES;
    }
}
