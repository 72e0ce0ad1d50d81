package dev.rackcall.rpc.shm.protocol;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.shm.notes.ProcessId;
import dev.rackcall.sandbox.Seals;
import dev.rackcall.shm.os.Processor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Optional;

/**
 * The memory of one connection, from its start: header, slots, request arena, reply arena. The header's words are
 * grouped on cache lines by writer. A word that one side reads on every call shares its line with nothing that changes
 * on every call.
 *
 * <pre>
 *      0  magic, layout version, slot count, instance id        written by the server before the client sees the memory
 *     24  largest  : maximum bytes of a scope that the server copies for one call, 0: not stated    likewise
 *     32  seals    : 1 if the server accepts only seals that a holder holds                         likewise
 *     36  server   : pid of the server in its own pid namespace, 0: not known; for people    likewise
 *     44  route    : how calls travel, see RouteNumber, 0: not known; for people                likewise
 *     48  namespace : the server's pid namespace; for people                    likewise
 *    256  watched    : 1 while the server polls this connection, 2 once it was rung    server, client
 *    260  state      : 1 open, 2 draining, 3 takes no more requests           server
 *    264  processor  : on which the server's poller last ran, -1: unknown     server
 *    268  yields     : 1 while callers on that processor should yield rather than sleep    server
 *    272  pauses     : how often the server has stopped polling this connection; for people    server
 *    384  consumed   : requests taken so far, published now and then          server
 *    512  reactor    : 1 while the client's reactor thread sleeps             client
 *    516  caller     : processor of a caller that waits on the poller's, -1: none    client
 *    520  client   : its pid and its pid namespace, as 36 and 48; for people    client
 *    640  narrow     : 1 + the ticket from which on calls go round the first slots only, 0: never    client
 *    648  wide       : 1 + the ticket from which on they go round all slots again, 0: never    client
 *   1024  asleep     : one bit a slot, set while its caller sleeps on a futex there    client
 *   2048  times    : how long calls took, a counter for each bucket of CallTimes; for people    client
 *   3328  waits    : how often callers yielded, slept or waited for a slot, see CallWaits; for people    client
 *   4096  slots, 256 bytes each
 *      D  descriptors of seals, 1024                                         client
 *      M  marks of seals, 1024                                               server
 *      S  request arena   (S, R: from the handshake; all page-aligned)
 *      R  reply arena
 * </pre>
 */
public final class ControlLayout {
    /** "RACKCALL" in ASCII, little-endian. */
    static final long MAGIC = 0x4c4c41434b434152L;

    public static final int VERSION = 9;

    private static final long MAGIC_OFFSET = 0;
    private static final long VERSION_OFFSET = 8;
    private static final long SLOTS_OFFSET = 12;
    private static final long INSTANCE_OFFSET = 16;
    private static final long LARGEST_SNAPSHOT = 24;
    private static final long HELD_SEALS_ONLY = 32;
    private static final long SERVER_PID = 36;
    private static final long ROUTE = 44;
    private static final long SERVER_NAMESPACE = 48;
    public static final long WATCHED = 256;
    private static final long STATE = 260;
    private static final long PROCESSOR = 264;
    private static final long YIELDS = 268;
    private static final long PAUSES = 272;
    public static final long CONSUMED = 384;
    private static final long REACTOR_ASLEEP = 512;
    private static final long CALLER = 516;
    private static final long CLIENT_PID = 520;
    private static final long CLIENT_NAMESPACE = 524;
    public static final long NARROW = 640;
    public static final long WIDE = 648;
    private static final long ASLEEP = 1024;
    static final long TIMES = 2048;
    static final long WAITS = 3328;
    public static final long FIRST_SLOT = 4096;
    public static final long PAGE = 4096;

    /**
     * How many slots calls go round while few are in flight: their memory and both sides' objects for them stay in the
     * caches of the processors. Divides the slot count of a connection that has more.
     */
    public static final int NARROW_SLOTS = 8;

    /** Descriptors of seals, one for each run of a sealed scope, and their marks: whole pages of both. */
    static final int SEALS = 1024;

    private static final int UNWATCHED = 0;
    private static final int IS_WATCHED = 1;
    private static final int RUNG = 2;

    public static final int STATE_OPEN = 1;
    public static final int STATE_DRAINING = 2;
    /** The server has ended the connection: it never takes the requests from {@link #consumed(MemorySegment)} on. */
    public static final int STATE_ENDED = 3;

    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private ControlLayout() {}

    public static long slot(int index) {
        return FIRST_SLOT + (long) index * SlotLayout.BYTES;
    }

    /** Bytes of header and slots in whole pages, which every connection needs from its start. */
    public static long slotBytes(int slots) {
        return (slot(slots) + PAGE - 1) & -PAGE;
    }

    /** Where the descriptors of seals begin. They and the marks get memory when the first scope is sealed. */
    static long sealRing(int slots) {
        return slotBytes(slots);
    }

    /** Where the marks of seals begin. */
    static long sealMarks(int slots) {
        return sealRing(slots) + Seals.ringBytes(SEALS);
    }

    /** Bytes before the arenas, in whole pages. */
    public static long controlBytes(int slots) {
        return sealMarks(slots) + Seals.marksBytes(SEALS);
    }

    public static void initialise(MemorySegment memory, int slots, long instance) {
        memory.set(ValueLayout.JAVA_INT, VERSION_OFFSET, VERSION);
        memory.set(ValueLayout.JAVA_INT, SLOTS_OFFSET, slots);
        memory.set(ValueLayout.JAVA_LONG, INSTANCE_OFFSET, instance);
        memory.set(ValueLayout.JAVA_INT, WATCHED, UNWATCHED);
        memory.set(ValueLayout.JAVA_INT, PROCESSOR, Processor.UNKNOWN);
        memory.set(ValueLayout.JAVA_INT, CALLER, Processor.UNKNOWN);
        memory.set(ValueLayout.JAVA_INT, STATE, STATE_OPEN);
        memory.set(ValueLayout.JAVA_LONG, NARROW, 0);
        memory.set(ValueLayout.JAVA_LONG, WIDE, 0);
        // Last: memory with this word is complete. The hand-over through the socket orders it before the client's first
        // read.
        memory.set(ValueLayout.JAVA_LONG, MAGIC_OFFSET, MAGIC);
    }

    public static boolean isInitialised(MemorySegment memory, int slots, long instance) {
        return memory.get(ValueLayout.JAVA_LONG, MAGIC_OFFSET) == MAGIC
                && memory.get(ValueLayout.JAVA_INT, VERSION_OFFSET) == VERSION
                && memory.get(ValueLayout.JAVA_INT, SLOTS_OFFSET) == slots
                && memory.get(ValueLayout.JAVA_LONG, INSTANCE_OFFSET) == instance;
    }

    /** Sets how large a scope the server copies for one call. Called before {@link #initialise}. */
    public static void largestSnapshot(MemorySegment memory, long bytes) {
        memory.set(ValueLayout.JAVA_LONG, LARGEST_SNAPSHOT, bytes);
    }

    /** As {@link #largestSnapshot(MemorySegment, long)} says; {@link Long#MAX_VALUE} if the server did not say. */
    public static long largestSnapshot(MemorySegment memory) {
        long bytes = memory.get(ValueLayout.JAVA_LONG, LARGEST_SNAPSHOT);
        return bytes > 0 ? bytes : Long.MAX_VALUE;
    }

    /** Sets whether calls under their client's own seal are refused. Called before {@link #initialise}. */
    public static void believesHeldSealsOnly(MemorySegment memory, boolean only) {
        memory.set(ValueLayout.JAVA_INT, HELD_SEALS_ONLY, only ? 1 : 0);
    }

    /** As {@link #believesHeldSealsOnly(MemorySegment, boolean)} says. */
    public static boolean believesHeldSealsOnly(MemorySegment memory) {
        return memory.get(ValueLayout.JAVA_INT, HELD_SEALS_ONLY) != 0;
    }

    /** Names this process as the server for observers; calls do not use these words. Called before {@link #initialise}. */
    public static void serverIsHere(MemorySegment memory) {
        write(memory, SERVER_PID, SERVER_NAMESPACE, ProcessId.current());
    }

    /** Names this process as the client for observers; calls do not use these words. */
    public static void clientIsHere(MemorySegment memory) {
        write(memory, CLIENT_PID, CLIENT_NAMESPACE, ProcessId.current());
    }

    private static void write(MemorySegment memory, long pid, long namespace, ProcessId process) {
        memory.set(ValueLayout.JAVA_INT, namespace, process.namespace());
        memory.set(ValueLayout.JAVA_INT, pid, process.pid());
    }

    /** As {@link #serverIsHere} has set it; anything if a peer overwrote it. Unknown in the memory of a remote server's client. */
    public static ProcessId server(MemorySegment memory) {
        return read(memory, SERVER_PID, SERVER_NAMESPACE);
    }

    /** As {@link #clientIsHere} has set it; anything if a peer overwrote it. Unknown in the memory of a remote client's server. */
    public static ProcessId client(MemorySegment memory) {
        return read(memory, CLIENT_PID, CLIENT_NAMESPACE);
    }

    private static ProcessId read(MemorySegment memory, long pid, long namespace) {
        return new ProcessId(memory.get(ValueLayout.JAVA_INT, pid), memory.get(ValueLayout.JAVA_INT, namespace));
    }

    /** Tells observers how calls travel; calls do not use this word. Called before {@link #initialise}. */
    public static void route(MemorySegment memory, Route.Kind kind) {
        memory.set(ValueLayout.JAVA_INT, ROUTE, RouteNumber.of(kind));
    }

    /** As {@link #route(MemorySegment, Route.Kind)} has set it; empty if it was not set, any kind if a peer overwrote it. */
    public static Optional<Route.Kind> route(MemorySegment memory) {
        return RouteNumber.kind(memory.get(ValueLayout.JAVA_INT, ROUTE));
    }

    /** Whether the memory begins as that of a connection does. Its other words may still be anything. */
    public static boolean hasMagic(MemorySegment memory) {
        return memory.get(ValueLayout.JAVA_LONG, MAGIC_OFFSET) == MAGIC;
    }

    /** The layout version of memory that {@link #hasMagic}. */
    public static int version(MemorySegment memory) {
        return memory.get(ValueLayout.JAVA_INT, VERSION_OFFSET);
    }

    /** The slot count of memory that {@link #hasMagic}; any number if a peer overwrote it. */
    public static int slots(MemorySegment memory) {
        return memory.get(ValueLayout.JAVA_INT, SLOTS_OFFSET);
    }

    /**
     * Whether the server polls this connection. Opaque: each side fences between its own store and its load of the
     * other side's.
     */
    public static boolean isWatched(MemorySegment memory) {
        return (int) INT.getOpaque(memory, WATCHED) == IS_WATCHED;
    }

    /**
     * Whether the caller, which has published a request and fenced, has to ring. Only the first of several callers
     * rings: the server then watches the connection and finds all their requests.
     */
    public static boolean mustRing(MemorySegment memory) {
        return (int) INT.getOpaque(memory, WATCHED) == UNWATCHED && INT.compareAndSet(memory, WATCHED, UNWATCHED, RUNG);
    }

    /** Whether a caller has rung and the server does not poll yet. */
    public static boolean isRung(MemorySegment memory) {
        return (int) INT.getOpaque(memory, WATCHED) == RUNG;
    }

    /** The caller could not ring: the next one has to. */
    public static void notRung(MemorySegment memory) {
        INT.compareAndSet(memory, WATCHED, RUNG, UNWATCHED);
    }

    /** Opaque: after clearing it, the server fences before it checks the slots once more. */
    public static void watched(MemorySegment memory, boolean watched) {
        INT.setOpaque(memory, WATCHED, watched ? IS_WATCHED : UNWATCHED);
    }

    /** On which processor the server's poller last ran; a hint for callers that are about to spin. */
    public static int processor(MemorySegment memory) {
        return (int) INT.getOpaque(memory, PROCESSOR);
    }

    /** Sets what {@link #processor(MemorySegment)} returns. */
    public static void processor(MemorySegment memory, int number) {
        INT.setOpaque(memory, PROCESSOR, number);
    }

    /** Whether a caller on the poller's processor should yield rather than sleep. A hint. */
    public static boolean yields(MemorySegment memory) {
        return (int) INT.getOpaque(memory, YIELDS) != 0;
    }

    /** Sets what {@link #yields(MemorySegment)} returns. */
    public static void yields(MemorySegment memory, boolean yields) {
        INT.setOpaque(memory, YIELDS, yields ? 1 : 0);
    }

    /** How often the server has stopped polling this connection, modulo 2^32; calls do not use this word. */
    public static int pauses(MemorySegment memory) {
        return (int) INT.getOpaque(memory, PAUSES);
    }

    /** Sets what {@link #pauses(MemorySegment)} returns. */
    public static void pauses(MemorySegment memory, int count) {
        INT.setOpaque(memory, PAUSES, count);
    }

    /** The processor of a caller that waits on the server's own; a hint for a poller that is about to spin. */
    public static int caller(MemorySegment memory) {
        return (int) INT.getOpaque(memory, CALLER);
    }

    /** Sets what {@link #caller(MemorySegment)} returns. */
    public static void caller(MemorySegment memory, int processor) {
        INT.setOpaque(memory, CALLER, processor);
    }

    /**
     * Makes requests from {@code ticket} on go round the first {@link #NARROW_SLOTS} slots. Called when the server has taken
     * all earlier ones. The client fences, and rings if necessary, as after a request; the server fences before its last
     * check.
     *
     * @return false if a change at that ticket or a later one was stored already
     */
    public static boolean narrowFrom(MemorySegment memory, long ticket) {
        return isRaised(memory, NARROW, ticket + 1);
    }

    /** Makes requests from {@code ticket} on go round all slots again. Ordered as {@link #narrowFrom}. */
    public static boolean wideFrom(MemorySegment memory, long ticket) {
        return isRaised(memory, WIDE, ticket + 1);
    }

    /** A thread that was off its processor meanwhile must not overwrite a later change. */
    private static boolean isRaised(MemorySegment memory, long offset, long value) {
        long seen = (long) LONG.getVolatile(memory, offset);
        while (seen < value) {
            if (LONG.compareAndSet(memory, offset, seen, value)) {
                return true;
            }
            seen = (long) LONG.getVolatile(memory, offset);
        }
        return false;
    }

    /**
     * The slots in the lap of request {@code ticket}, the next one that the server takes: {@link #NARROW_SLOTS} or all, by
     * the last change that is not ahead of it. If both changes name the same ticket, the widening one counts. If the words
     * change meanwhile, the result may be wrong; then the server does not find the request, and asks again.
     */
    public static int lap(MemorySegment memory, long ticket, int slots) {
        long narrow = (long) LONG.getOpaque(memory, NARROW) - 1;
        long wide = (long) LONG.getOpaque(memory, WIDE) - 1;
        return narrow <= ticket && (wide < narrow || wide > ticket) ? NARROW_SLOTS : slots;
    }

    /** Pairs with the store in {@link #state(MemorySegment, int)}. */
    public static int state(MemorySegment memory) {
        return (int) INT.getAcquire(memory, STATE);
    }

    /** Pairs with the load in {@link #state(MemorySegment)}. */
    public static void state(MemorySegment memory, int state) {
        INT.setRelease(memory, STATE, state);
    }

    /**
     * The number of requests taken. The words of requests with lower tickets may be overwritten. Pairs with {@link
     * #consumed(MemorySegment, long)}.
     */
    public static long consumed(MemorySegment memory) {
        return (long) LONG.getAcquire(memory, CONSUMED);
    }

    /** Pairs with {@link #consumed(MemorySegment)}. */
    public static void consumed(MemorySegment memory, long requests) {
        LONG.setRelease(memory, CONSUMED, requests);
    }

    /**
     * Announces that the caller of that slot sleeps. Volatile: a full barrier before its last check of the response.
     */
    public static void fallAsleep(MemorySegment memory, int slot) {
        LONG.getAndBitwiseOr(memory, asleepWord(slot), 1L << slot);
    }

    /** Withdraws {@link #fallAsleep}. */
    public static void wakeUp(MemorySegment memory, int slot) {
        LONG.getAndBitwiseAnd(memory, asleepWord(slot), ~(1L << slot));
    }

    /**
     * The slots whose callers sleep: bit {@code i} for slot {@code first + i}. Opaque: the server fences between
     * publishing responses and this load.
     *
     * @param first a multiple of 64
     */
    public static long asleep(MemorySegment memory, int first) {
        return (long) LONG.getOpaque(memory, asleepWord(first));
    }

    private static long asleepWord(int slot) {
        return ASLEEP + (long) (slot >>> 6) * Long.BYTES;
    }

    /** Volatile: a full barrier between announcing the sleep and the last check of the responses. */
    public static void reactorAsleep(MemorySegment memory, boolean asleep) {
        INT.setVolatile(memory, REACTOR_ASLEEP, asleep ? 1 : 0);
    }

    /** Opaque: the server fences between publishing responses and this load. */
    public static boolean isReactorAsleep(MemorySegment memory) {
        return (int) INT.getOpaque(memory, REACTOR_ASLEEP) != 0;
    }
}
