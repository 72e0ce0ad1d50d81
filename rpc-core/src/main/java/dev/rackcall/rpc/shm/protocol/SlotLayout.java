package dev.rackcall.rpc.shm.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * One slot of a connection: a request half that only the client writes, and a response half that only the server
 * writes. They are 128 bytes apart, so that they share neither a cache line nor the pair of lines that some CPUs fetch
 * together.
 *
 * <pre>
 *         request half                                response half
 *    +0  word      : published last             +128  word     : published last
 *    +8  length    : of a payload at ref        +136  length   : of a payload at ref
 *   +16  ref       : payload, if not inline     +144  ref      : payload, if not inline
 *   +24  deadline  : nanoTime, if flagged       +152  inline payload, up to 104 bytes
 *   +32  isolation : scope or seal of the arguments, if flagged
 *   +40  inline payload, up to 88 bytes
 *
 *        63           56 55   48 47               32 31                       0
 *       +---------------+-------+-------------------+--------------------------+
 *  word | inline length | flags | method  or status |        ticket + 1        |
 *       +---------------+-------+-------------------+--------------------------+
 * </pre>
 *
 * The method of a request is six bits of service and ten bits of method, see {@link #methodNumber}.
 *
 * <p>The word that publishes also describes a small call completely: a call without arguments is one store and one load in
 * each direction. It has the low half of the ticket, which suffices because any other value in the word is older and
 * from the same slot. A sleeping caller waits on that half.
 */
public final class SlotLayout {
    public static final int BYTES = 256;

    private static final int REQUEST_WORD = 0;
    public static final int REQUEST_LENGTH = 8;
    private static final int REQUEST_REF = 16;
    public static final int REQUEST_DEADLINE = 24;
    public static final int REQUEST_ISOLATION = 32;
    public static final int REQUEST_INLINE = 40;
    public static final int REQUEST_INLINE_BYTES = 88;

    public static final int RESPONSE_WORD = 128;
    public static final int RESPONSE_LENGTH = 136;
    private static final int RESPONSE_REF = 144;
    public static final int RESPONSE_INLINE = 152;
    public static final int RESPONSE_INLINE_BYTES = 104;

    /** Nothing to do: an earlier call still occupies the slot, or the call was abandoned before it was sent. */
    public static final int SKIP = 1;
    /** The payload is at {@code ref}; otherwise it is in the slot. */
    public static final int OUTSIDE = 2;
    /**
     * The payload has metadata: headers at the beginning of a request, trailers at the end of a result, and both
     * description and trailers in a failure.
     */
    public static final int METADATA = 4;
    /** The caller does not read the response; it is still published, to release the slot. */
    public static final int ONE_WAY = 8;
    /** A {@link ControlOp}, not a service method. */
    public static final int CONTROL = 16;
    /** The caller has set a deadline. */
    public static final int DEADLINE = 32;
    /**
     * The shared arguments lie in the scope whose first run the isolation field names; the server takes a snapshot of
     * it.
     */
    public static final int SNAPSHOT = 64;
    /** The shared arguments lie in the scope whose seal the isolation field names. */
    public static final int SEALED = 128;

    /**
     * In a response: the result names objects of other clients, so reading it may take a round trip. Only with mirrored
     * memory.
     */
    public static final int HELD = 64;

    /** In a response: the payload begins with what the handler stored into a copy of its arguments. */
    public static final int STORES = 128;

    /**
     * Both isolation flags together: nothing is isolated. If the method writes, the isolation field names the first run
     * of the scope in which it may store. Otherwise the server fetches what the shared arguments' Refs point to, which
     * happens only with mirrored memory.
     */
    public static final int FETCHED = SNAPSHOT | SEALED;

    /** A connection's services: the one that the client has connected to is 0. */
    public static final int MAX_SERVICES = 64;

    /** Methods of one service. */
    public static final int MAX_METHODS = 1024;

    private static final int SERVICE_SHIFT = 10;
    private static final int LOW_SHIFT = 32;
    private static final int FLAGS_SHIFT = 48;
    private static final int LENGTH_SHIFT = 56;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private SlotLayout() {}

    // ---- the word

    public static long word(long ticket, int methodOrStatus, int flags, int inlineLength) {
        return ((ticket + 1) & 0xffff_ffffL)
                | ((long) methodOrStatus << LOW_SHIFT)
                | ((long) flags << FLAGS_SHIFT)
                | ((long) inlineLength << LENGTH_SHIFT);
    }

    /** Whether the word was published for that ticket. */
    public static boolean isOf(long word, long ticket) {
        return (int) word == (int) (ticket + 1);
    }

    public static int methodOrStatus(long word) {
        return (int) (word >>> LOW_SHIFT) & 0xffff;
    }

    public static int flags(long word) {
        return (int) (word >>> FLAGS_SHIFT) & 0xff;
    }

    public static int inlineLength(long word) {
        return (int) (word >>> LENGTH_SHIFT);
    }

    /** Success without a payload, whatever the ticket. */
    public static boolean isEmptySuccess(long word) {
        return word >>> LOW_SHIFT == 0;
    }

    /** The number of a method among those of all the connection's services, as it is in the word of a request. */
    public static int methodNumber(int service, int method) {
        return (service << SERVICE_SHIFT) | method;
    }

    /** The service of a {@link #methodNumber}. */
    public static int serviceOf(int number) {
        return number >>> SERVICE_SHIFT;
    }

    /** The method within its service of a {@link #methodNumber}. */
    public static int methodOf(int number) {
        return number & (MAX_METHODS - 1);
    }

    // ---- request half

    /**
     * Pairs with {@link #requestWord}: a server that sees the ticket also sees the request half and the payload stored
     * before.
     */
    public static void publishRequest(MemorySegment memory, long slot, long word) {
        LONG.setRelease(memory, slot + REQUEST_WORD, word);
    }

    /** Pairs with {@link #publishRequest}. */
    public static long requestWord(MemorySegment memory, long slot) {
        return (long) LONG.getAcquire(memory, slot + REQUEST_WORD);
    }

    public static void requestOutside(MemorySegment memory, long slot, long length, long ref) {
        memory.set(ValueLayout.JAVA_LONG, slot + REQUEST_LENGTH, length);
        memory.set(ValueLayout.JAVA_LONG, slot + REQUEST_REF, ref);
    }

    public static long requestLength(MemorySegment memory, long slot) {
        return memory.get(ValueLayout.JAVA_LONG, slot + REQUEST_LENGTH);
    }

    public static long requestRef(MemorySegment memory, long slot) {
        return memory.get(ValueLayout.JAVA_LONG, slot + REQUEST_REF);
    }

    public static void requestDeadline(MemorySegment memory, long slot, long deadline) {
        memory.set(ValueLayout.JAVA_LONG, slot + REQUEST_DEADLINE, deadline);
    }

    public static long requestDeadline(MemorySegment memory, long slot) {
        return memory.get(ValueLayout.JAVA_LONG, slot + REQUEST_DEADLINE);
    }

    public static void requestIsolation(MemorySegment memory, long slot, long scopeOrSeal) {
        memory.set(ValueLayout.JAVA_LONG, slot + REQUEST_ISOLATION, scopeOrSeal);
    }

    public static long requestIsolation(MemorySegment memory, long slot) {
        return memory.get(ValueLayout.JAVA_LONG, slot + REQUEST_ISOLATION);
    }

    // ---- response half

    /** Pairs with {@link #responseWord}. */
    public static void publishResponse(MemorySegment memory, long slot, long word) {
        LONG.setRelease(memory, slot + RESPONSE_WORD, word);
    }

    /** Pairs with {@link #publishResponse}. */
    public static long responseWord(MemorySegment memory, long slot) {
        return (long) LONG.getAcquire(memory, slot + RESPONSE_WORD);
    }

    public static void responseOutside(MemorySegment memory, long slot, long length, long ref) {
        memory.set(ValueLayout.JAVA_LONG, slot + RESPONSE_LENGTH, length);
        memory.set(ValueLayout.JAVA_LONG, slot + RESPONSE_REF, ref);
    }

    public static long responseLength(MemorySegment memory, long slot) {
        return memory.get(ValueLayout.JAVA_LONG, slot + RESPONSE_LENGTH);
    }

    public static long responseRef(MemorySegment memory, long slot) {
        return memory.get(ValueLayout.JAVA_LONG, slot + RESPONSE_REF);
    }
}
