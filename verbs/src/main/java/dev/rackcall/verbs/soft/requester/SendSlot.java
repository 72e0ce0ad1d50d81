package dev.rackcall.verbs.soft.requester;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Opcode;
import dev.rackcall.verbs.WorkRequest;
import dev.rackcall.verbs.soft.memory.DomainMemory;
import dev.rackcall.verbs.soft.memory.ScatterList;
import dev.rackcall.verbs.soft.queue.QueuePairCore;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A copy of a posted send request. */
final class SendSlot {
    final ScatterList list;
    private final MemorySegment inline;
    long id;
    Opcode opcode = Opcode.SEND;
    int flags;
    int packet;
    long length;
    int immediate;
    long remoteAddress;
    int remoteKey;
    long compareAdd;
    long swap;
    /** For UD and DC only; stale otherwise. */
    Destination destination;

    int destinationQueuePair;
    long destinationKey;
    /** When it may leave the device, if the fault plan adds latency; else 0. */
    long due;
    /** Bytes of a READ that were received. */
    long received;

    SendSlot(int maxSegments, int maxInline) {
        list = new ScatterList(maxSegments);
        inline = Arena.ofAuto().allocate(Math.max(1, maxInline));
    }

    void set(WorkRequest request, int packetNumber) {
        id = request.id();
        opcode = request.opcode();
        flags = request.flags();
        packet = packetNumber;
        received = 0;
        due = 0;
        list.clear();
        if (isInline()) {
            length = Integer.toUnsignedLong(request.segmentLength(0));
            MemorySegment.copy(request.inlineMemory(), 0, inline, 0, length);
        } else {
            list.set(request);
            length = list.bytes();
        }
        immediate = opcode.hasImmediate() ? request.immediate() : 0;
        remoteAddress = request.remoteAddress();
        remoteKey = request.remoteKey();
        compareAdd = request.compareOrAdd();
        swap = request.swap();
    }

    void setDestination(WorkRequest request) {
        destination = ((SoftAddressHandle) request.destination().orElseThrow()).destination();
        destinationQueuePair = request.destinationQueuePair();
        destinationKey = request.destinationKey();
    }

    boolean isInline() {
        return (flags & WorkRequest.INLINE) != 0;
    }

    boolean isSignaled() {
        return (flags & WorkRequest.SIGNALED) != 0;
    }

    boolean isFenced() {
        return (flags & WorkRequest.FENCE) != 0;
    }

    /** Whether the responder answers the request even if it succeeds. */
    boolean isAnswered() {
        return isSignaled() || opcode.isReadOrAtomic();
    }

    /** Bytes that travel to the peer. */
    long outgoing() {
        return opcode.isReadOrAtomic() ? 0 : length;
    }

    CompletionOpcode completion() {
        return CompletionOpcode.of(opcode);
    }

    boolean load(DomainMemory memory, long offset, MemorySegment to, long at, int bytes) {
        if (isInline()) {
            MemorySegment.copy(inline, offset, to, at, bytes);
            return true;
        }
        return list.load(memory, offset, to, at, bytes);
    }

    /** Why the local side cannot send this; SUCCESS if it can. */
    CompletionStatus problem(QueuePairCore core) {
        if (length > core.maxMessageBytes() || (opcode.isAtomic() && length != Long.BYTES)) {
            return CompletionStatus.LOCAL_LENGTH_ERROR;
        }
        int right = opcode.isReadOrAtomic() ? Access.LOCAL_WRITE.bit() : 0;
        return list.isUsable(core.memory(), right) ? CompletionStatus.SUCCESS : CompletionStatus.LOCAL_PROTECTION_ERROR;
    }
}
