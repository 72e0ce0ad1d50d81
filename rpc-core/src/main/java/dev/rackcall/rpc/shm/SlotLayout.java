package dev.rackcall.rpc.shm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * One slot of a connection: a request half that only the client writes and a response half that only the server writes, 128 bytes
 * apart, so that the two never share a cache line nor the pair of lines that some CPUs fetch together.
 *
 * <pre>
 *         request half                                response half
 *    +0  commit    : ticket + 1, written last   +128  commit   : ticket + 1, written last
 *    +8  method    : 16 bits                    +136  status   : 16 bits
 *   +10  flags     : 16 bits                    +138  flags    : 16 bits
 *   +12  length    : bytes of payload           +140  length   : bytes of payload
 *   +16  ref       : payload, if not inline     +144  ref      : payload, if not inline
 *   +24  deadline  : nanoTime of this host, 0   +152  inline payload, up to 104 bytes
 *   +32  (reserved for the seal index)
 *   +40  inline payload, up to 88 bytes
 * </pre>
 *
 * A payload that outgrows its inline room moves to an arena as a whole; {@link #INLINE} says where it is.
 */
final class SlotLayout {
    static final int BYTES = 256;

    static final int REQUEST_COMMIT = 0;
    private static final int REQUEST_HEAD = 8;
    private static final int REQUEST_REF = 16;
    private static final int REQUEST_DEADLINE = 24;
    static final int REQUEST_INLINE = 40;
    static final int REQUEST_INLINE_BYTES = 88;

    static final int RESPONSE_COMMIT = 128;
    private static final int RESPONSE_HEAD = 136;
    private static final int RESPONSE_REF = 144;
    static final int RESPONSE_INLINE = 152;
    static final int RESPONSE_INLINE_BYTES = 104;

    /** Nothing to do: an earlier call still occupies the slot, or its call was abandoned before it was sent. */
    static final int SKIP = 1;
    /** The payload is in the slot; otherwise it is at {@code ref}. */
    static final int INLINE = 2;
    /** The payload begins with metadata: headers in a request, description and trailers in a response. */
    static final int METADATA = 4;
    /** The caller does not look at the response; it is published all the same, to give the slot back. */
    static final int ONE_WAY = 8;
    /** Not a service method but a {@link ControlOp}. */
    static final int CONTROL = 16;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private SlotLayout() {}

    /** The second word of either half: method or status, flags, length. One word, so that the other side reads it once and whole. */
    static long head(int low, int flags, int length) {
        return low | ((long) flags << 16) | ((long) length << 32);
    }

    static int low(long head) {
        return (int) head & 0xffff;
    }

    static int flags(long head) {
        return (int) (head >>> 16) & 0xffff;
    }

    static int length(long head) {
        return (int) (head >>> 32);
    }

    /** Pairs with {@link #requestCommit}: who sees the ticket sees the request half and the payload stored before. */
    static void publishRequest(MemorySegment memory, long slot, long commit) {
        LONG.setRelease(memory, slot + REQUEST_COMMIT, commit);
    }

    /** Pairs with {@link #publishRequest}. */
    static long requestCommit(MemorySegment memory, long slot) {
        return (long) LONG.getAcquire(memory, slot + REQUEST_COMMIT);
    }

    /** Pairs with {@link #responseCommit}. */
    static void publishResponse(MemorySegment memory, long slot, long commit) {
        LONG.setRelease(memory, slot + RESPONSE_COMMIT, commit);
    }

    /** Pairs with {@link #publishResponse}. */
    static long responseCommit(MemorySegment memory, long slot) {
        return (long) LONG.getAcquire(memory, slot + RESPONSE_COMMIT);
    }

    /** Writes the request's header but for its ref. */
    static void request(MemorySegment memory, long slot, long head, long deadline) {
        memory.set(ValueLayout.JAVA_LONG, slot + REQUEST_HEAD, head);
        memory.set(ValueLayout.JAVA_LONG, slot + REQUEST_DEADLINE, deadline);
    }

    static void requestRef(MemorySegment memory, long slot, long ref) {
        memory.set(ValueLayout.JAVA_LONG, slot + REQUEST_REF, ref);
    }

    /** Writes no more of the header than a filler needs: the rest may still belong to the call that occupies the slot. */
    static void skipRequest(MemorySegment memory, long slot) {
        memory.set(ValueLayout.JAVA_LONG, slot + REQUEST_HEAD, head(0, SKIP, 0));
    }

    static long requestHead(MemorySegment memory, long slot) {
        return memory.get(ValueLayout.JAVA_LONG, slot + REQUEST_HEAD);
    }

    static long requestRef(MemorySegment memory, long slot) {
        return memory.get(ValueLayout.JAVA_LONG, slot + REQUEST_REF);
    }

    static long requestDeadline(MemorySegment memory, long slot) {
        return memory.get(ValueLayout.JAVA_LONG, slot + REQUEST_DEADLINE);
    }

    static void response(MemorySegment memory, long slot, long head) {
        memory.set(ValueLayout.JAVA_LONG, slot + RESPONSE_HEAD, head);
    }

    static void responseRef(MemorySegment memory, long slot, long ref) {
        memory.set(ValueLayout.JAVA_LONG, slot + RESPONSE_REF, ref);
    }

    static long responseHead(MemorySegment memory, long slot) {
        return memory.get(ValueLayout.JAVA_LONG, slot + RESPONSE_HEAD);
    }

    static long responseRef(MemorySegment memory, long slot) {
        return memory.get(ValueLayout.JAVA_LONG, slot + RESPONSE_REF);
    }
}
