package dev.rackcall.verbs.soft.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The bytes on the wire, little-endian. A link begins with a hello from each side. Then requests flow from the side
 * that connected, responses from the other.
 *
 * <pre>
 * hello (64)         request (72)              response (32)
 *  0 magic            0 frame length            0 frame length
 *  4 version          4 operation               4 kind
 *  8 source GID       5 flags                   5 reason of a refusal
 * 24 target GID       8 destination queue pair  8 destination queue pair
 * 40 answer          12 source queue pair      12 packet number
 * 44 GID's proof     16 packet number          16 offset of the payload
 * 60 0               20 message length         20 message length
 *                    24 offset of the payload  24 old value, or RNR timer
 *                    28 immediate              32 payload ...
 *                    32 remote address
 *                    40 remote or queue key
 *                    48 compare or add
 *                    56 swap
 *                    64 target key
 *                    72 payload ...
 * </pre>
 *
 * A message longer than {@link #MAX_PAYLOAD} travels in several frames of one packet number. If a peer breaks
 * these rules, its link is closed.
 */
public final class FrameLayout {
    public static final ValueLayout.OfInt INT = JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    public static final ValueLayout.OfLong LONG = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong NETWORK_LONG = JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** "RKVB" in the first four bytes. */
    public static final int MAGIC = 0x42564B52;

    public static final int VERSION = 2;

    public static final int HELLO_BYTES = 64;
    public static final int REQUEST_BYTES = 72;
    public static final int RESPONSE_BYTES = 32;
    public static final int MAX_PAYLOAD = 32 << 10;
    public static final int MAX_FRAME = REQUEST_BYTES + MAX_PAYLOAD;
    public static final int PACKET_MASK = 0xFFFFFF;

    public static final int HELLO_VERSION = 4;
    public static final int HELLO_SOURCE = 8;
    public static final int HELLO_TARGET = 24;
    public static final int HELLO_ANSWER = 40;
    public static final int HELLO_PROOF = 44;

    public static final int KIND = 4;
    public static final int FLAGS = 5;
    public static final int DESTINATION = 8;
    public static final int SOURCE = 12;
    public static final int PACKET = 16;
    public static final int MESSAGE_LENGTH = 20;
    public static final int OFFSET = 24;
    public static final int IMMEDIATE = 28;
    public static final int REMOTE_ADDRESS = 32;
    public static final int REMOTE_KEY = 40;
    public static final int COMPARE_ADD = 48;
    public static final int SWAP = 56;
    public static final int TARGET_KEY = 64;

    public static final int REASON = 5;
    public static final int RESPONSE_PACKET = 12;
    public static final int RESPONSE_OFFSET = 16;
    public static final int RESPONSE_LENGTH = 20;
    public static final int VALUE = 24;

    /** Kind of a request that is a datagram; all others carry the opcode's number. */
    public static final int DATAGRAM = 16;

    public static final int ACKNOWLEDGE = 32;
    public static final int REFUSE = 33;
    public static final int READ_DATA = 34;
    public static final int ATOMIC_VALUE = 35;

    /** Flag: the sender requests an acknowledgement. */
    public static final int WANTS_ANSWER = 1;

    public static final int IS_SOLICITED = 1 << 1;
    /** Flag: first message from a DC initiator to this target. */
    public static final int CONNECTS = 1 << 2;

    public static final int HAS_IMMEDIATE = 1 << 3;

    private FrameLayout() {}

    public static int length(MemorySegment frame, long at) {
        return frame.get(INT, at);
    }

    public static int kind(MemorySegment frame, long at) {
        return frame.get(JAVA_BYTE, at + KIND) & 0xFF;
    }

    public static int flags(MemorySegment frame, long at) {
        return frame.get(JAVA_BYTE, at + FLAGS) & 0xFF;
    }

    public static void start(MemorySegment frame, long at, int length, int kind, int flagsOrReason) {
        frame.set(INT, at, length);
        frame.set(INT, at + KIND, kind | flagsOrReason << 8);
    }

    public static long networkLong(MemorySegment memory, long at) {
        return memory.get(NETWORK_LONG, at);
    }

    public static void networkLong(MemorySegment memory, long at, long value) {
        memory.set(NETWORK_LONG, at, value);
    }
}
