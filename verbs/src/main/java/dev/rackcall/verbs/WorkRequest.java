package dev.rackcall.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.verbs.ffi.Structs.IbvSendWr;
import dev.rackcall.verbs.ffi.VerbsConstants;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * A send request: a reusable struct ibv_send_wr with room for its segments and inline bytes. An operation
 * ({@link #send}, {@link #write} and so on) resets it; the other methods add to it. Posting copies it, so one object
 * serves any number of posts, and fields may be changed between posts. Only one thread may use it at a time. It
 * allocates nothing after creation.
 *
 * {@snippet :
 * WorkRequest request = WorkRequest.create(1, 0);
 * request.write(peerAddress, peerKey).from(region, 0, 4096).id(7).signaled();
 * if (!queuePair.postSend(request)) { // the send queue is full
 * }
 * }
 */
public final class WorkRequest extends PostedRequest {
    /** Flag (enum ibv_send_flags): wait until all earlier READs and atomics are done. */
    public static final int FENCE = VerbsConstants.IBV_SEND_FENCE;
    /** Flag: produce a completion. */
    public static final int SIGNALED = VerbsConstants.IBV_SEND_SIGNALED;
    /** Flag: the receiver's completion counts as solicited. */
    public static final int SOLICITED = VerbsConstants.IBV_SEND_SOLICITED;
    /** Flag: the data travels inside the request. */
    public static final int INLINE = VerbsConstants.IBV_SEND_INLINE;

    private final MemorySegment inline;
    private Optional<AddressHandle> destination = Optional.empty();
    private int destinationQueuePair;
    private long destinationKey;

    private WorkRequest(int maxSegments, int maxInline) {
        super(IbvSendWr.BYTES, IbvSendWr.SG_LIST, IbvSendWr.NUM_SGE, maxSegments, maxInline);
        inline = more();
    }

    /** A request with room for this many segments and inline bytes. Inline bytes need at least one segment. */
    public static WorkRequest create(int maxSegments, int maxInline) {
        return new WorkRequest(maxSegments, maxInline);
    }

    /** A SEND. */
    public WorkRequest send() {
        return start(Opcode.SEND);
    }

    /** A SEND with immediate data. */
    public WorkRequest sendWithImmediate(int immediate) {
        return start(Opcode.SEND_WITH_IMMEDIATE).immediate(immediate);
    }

    /** A WRITE to this address of the peer. */
    public WorkRequest write(long remoteAddress, int remoteKey) {
        return start(Opcode.WRITE).remote(remoteAddress, remoteKey);
    }

    /** A WRITE that also consumes a receive request at the peer and delivers immediate data. */
    public WorkRequest writeWithImmediate(long remoteAddress, int remoteKey, int immediate) {
        return start(Opcode.WRITE_WITH_IMMEDIATE)
                .remote(remoteAddress, remoteKey)
                .immediate(immediate);
    }

    /** A READ from this address of the peer into the segments, which need the LOCAL_WRITE right. */
    public WorkRequest read(long remoteAddress, int remoteKey) {
        return start(Opcode.READ).remote(remoteAddress, remoteKey);
    }

    /**
     * If the 8 bytes at this aligned address equal {@code expected}, replaces them by {@code desired}; the segment
     * receives the old value.
     */
    public WorkRequest compareAndSwap(long remoteAddress, int remoteKey, long expected, long desired) {
        return start(Opcode.COMPARE_AND_SWAP).atomic(remoteAddress, remoteKey, expected, desired);
    }

    /** Adds to the 8 bytes at this aligned address; the segment receives the old value. */
    public WorkRequest fetchAndAdd(long remoteAddress, int remoteKey, long addend) {
        return start(Opcode.FETCH_AND_ADD).atomic(remoteAddress, remoteKey, addend, 0);
    }

    /** Adds a part of a region: data to send or write, or memory for the result of a READ or an atomic. */
    public WorkRequest from(MemoryRegion region, long offset, int length) {
        add(region, offset, length);
        return this;
    }

    /** Adds a segment by raw numbers; the device checks them when it processes the request. */
    public WorkRequest from(long address, int length, int localKey) {
        add(address, length, localKey);
        return this;
    }

    /** Copies {@code length} bytes from any memory into the request. They replace its segments. */
    public WorkRequest inline(MemorySegment memory, long offset, int length) {
        MemorySegment.copy(memory, offset, inline, 0, length);
        return inlined(length);
    }

    /** Copies these 8 bytes in the machine's byte order into the request. */
    public WorkRequest inline(long word) {
        inline.set(JAVA_LONG, 0, word);
        return inlined(Long.BYTES);
    }

    /** Sets the id of the completion. */
    public WorkRequest id(long id) {
        struct().set(JAVA_LONG, 0, id);
        return this;
    }

    /** Produces a completion. Without this flag only a failure does. */
    public WorkRequest signaled() {
        return flag(SIGNALED);
    }

    /** Waits until all READs and atomics posted earlier are done. */
    public WorkRequest fenced() {
        return flag(FENCE);
    }

    /** Makes the receiver's completion solicited. */
    public WorkRequest solicited() {
        return flag(SOLICITED);
    }

    /** Sets the destination (UD) with the receiver's queue key. */
    public WorkRequest to(AddressHandle handle, int queuePair, int queueKey) {
        IbvSendWr.WR_UD_REMOTE_QPN.set(struct(), queuePair);
        IbvSendWr.WR_UD_REMOTE_QKEY.set(struct(), queueKey);
        return toTarget(handle, queuePair, queueKey);
    }

    /** Sets the destination (DC) with the target's key. */
    public WorkRequest toTarget(AddressHandle handle, int target, long targetKey) {
        // Posting must not allocate: the same destination again needs no new Optional.
        if (destination.isEmpty() || destination.get() != handle) {
            destination = Optional.of(handle);
        }
        destinationQueuePair = target;
        destinationKey = targetKey;
        return this;
    }

    /** The operation. */
    public Opcode opcode() {
        return Opcode.ofCode(IbvSendWr.OPCODE.get(struct()));
    }

    /** The flags; see the constants of this class. */
    public int flags() {
        return IbvSendWr.SEND_FLAGS.get(struct());
    }

    /** The immediate data. */
    public int immediate() {
        return NetworkOrder.toInt(IbvSendWr.IMM_DATA.get(struct()));
    }

    /** The peer's address of a WRITE, READ or atomic. */
    public long remoteAddress() {
        return IbvSendWr.WR_RDMA_REMOTE_ADDR.get(struct());
    }

    /** The peer's key of a WRITE, READ or atomic. */
    public int remoteKey() {
        return (opcode().isAtomic() ? IbvSendWr.WR_ATOMIC_RKEY : IbvSendWr.WR_RDMA_RKEY).get(struct());
    }

    /** The expected value of a compare and swap, or the addend of a fetch and add. */
    public long compareOrAdd() {
        return IbvSendWr.WR_ATOMIC_COMPARE_ADD.get(struct());
    }

    /** The desired value of a compare and swap. */
    public long swap() {
        return IbvSendWr.WR_ATOMIC_SWAP.get(struct());
    }

    /** The memory of the inline bytes; their number is the length of the first segment. */
    public MemorySegment inlineMemory() {
        return inline;
    }

    /** The destination, for UD and DC. */
    public Optional<AddressHandle> destination() {
        return destination;
    }

    /** The destination's queue pair number, for UD and DC. */
    public int destinationQueuePair() {
        return destinationQueuePair;
    }

    /** The destination's queue key (UD) or target key (DC). */
    public long destinationKey() {
        return destinationKey;
    }

    /** For a provider: sets its pointer to a UD destination, which occupies the place of a WRITE's remote address. */
    public void nativeDestination(long pointer) {
        IbvSendWr.WR_UD_AH.set(struct(), pointer);
    }

    /** For a provider: sets the pointer to the next request of a list; 0 for none. */
    public void nativeNext(long pointer) {
        IbvSendWr.NEXT.set(struct(), pointer);
    }

    private WorkRequest start(Opcode opcode) {
        IbvSendWr.OPCODE.set(struct(), opcode.code());
        IbvSendWr.SEND_FLAGS.set(struct(), 0);
        begin(0);
        return this;
    }

    private WorkRequest remote(long address, int key) {
        IbvSendWr.WR_RDMA_REMOTE_ADDR.set(struct(), address);
        IbvSendWr.WR_RDMA_RKEY.set(struct(), key);
        return this;
    }

    private WorkRequest atomic(long address, int key, long compareAdd, long swap) {
        IbvSendWr.WR_RDMA_REMOTE_ADDR.set(struct(), address);
        IbvSendWr.WR_ATOMIC_COMPARE_ADD.set(struct(), compareAdd);
        IbvSendWr.WR_ATOMIC_SWAP.set(struct(), swap);
        IbvSendWr.WR_ATOMIC_RKEY.set(struct(), key);
        return this;
    }

    private WorkRequest immediate(int value) {
        IbvSendWr.IMM_DATA.set(struct(), NetworkOrder.toInt(value));
        return this;
    }

    private WorkRequest inlined(int length) {
        clearSegments();
        add(inline.address(), length, 0);
        return flag(INLINE);
    }

    private WorkRequest flag(int bit) {
        IbvSendWr.SEND_FLAGS.set(struct(), flags() | bit);
        return this;
    }

    /**
     * For a provider: rejects requests that can never succeed.
     *
     * @throws VerbsException if the operation, an atomic's alignment, the number of segments or the inline length does
     *     not fit
     */
    public void requireFits(QueuePairSpec spec, int maxInline, int queuePair) {
        if (!spec.type().allows(opcode())) {
            throw misfit(queuePair, "a " + spec.type() + " queue pair does not support it");
        }
        boolean carriesBytes = (flags() & INLINE) != 0;
        if (carriesBytes && segmentLength(0) > maxInline) {
            throw misfit(
                    queuePair,
                    segmentLength(0) + " bytes inline exceed its " + maxInline + ": create it with more (withInline)");
        }
        if (carriesBytes && opcode().isReadOrAtomic()) {
            throw misfit(queuePair, "its result cannot be inline: add a segment");
        }
        if (opcode().isAtomic() && (remoteAddress() & 7) != 0) {
            throw misfit(queuePair, "address " + Long.toHexString(remoteAddress()) + " is not aligned to 8 bytes");
        }
        if (segments() > spec.maxSegments()) {
            throw misfit(
                    queuePair,
                    segments() + " segments exceed its " + spec.maxSegments() + ": create it with more (withSegments)");
        }
        if (spec.type().isAddressedPerRequest() && destination.isEmpty()) {
            throw misfit(queuePair, "name a destination");
        }
    }

    private VerbsException misfit(int queuePair, String reason) {
        return new VerbsException("posting " + opcode() + " to queue pair " + queuePair, VerbsErrno.EINVAL, reason);
    }
}
