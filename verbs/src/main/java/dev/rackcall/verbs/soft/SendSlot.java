package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Opcode;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A posted send request, copied so that its object is free at once. */
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
    SoftAddressHandle destination;

    int destinationQueuePair;
    long destinationKey;
    /** When it may leave the device, if it is slowed down. */
    long due;
    /** Bytes of a READ that have come. */
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
            for (int i = 0; i < request.segments(); i++) {
                list.add(request.segmentAddress(i), request.segmentLength(i), request.segmentKey(i));
            }
            length = list.bytes();
        }
        immediate = opcode.hasImmediate() ? request.immediate() : 0;
        remoteAddress = request.remoteAddress();
        remoteKey = request.remoteKey();
        compareAdd = request.compareOrAdd();
        swap = request.swap();
    }

    void setDestination(WorkRequest request) {
        destination = (SoftAddressHandle) request.destination().orElseThrow();
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

    /** Whether the responder will say something even if all goes well. */
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

    boolean load(SoftProtectionDomain domain, long offset, MemorySegment to, long at, int bytes) {
        if (isInline()) {
            MemorySegment.copy(inline, offset, to, at, bytes);
            return true;
        }
        return list.load(domain, offset, to, at, bytes);
    }

    /** Why this cannot be sent, as far as the local side knows. */
    CompletionStatus problem(SoftQueuePair owner) {
        if (length > owner.maxMessageBytes() || (opcode.isAtomic() && length != Long.BYTES)) {
            return CompletionStatus.LOCAL_LENGTH_ERROR;
        }
        int right = opcode.isReadOrAtomic() ? Access.LOCAL_WRITE.bit() : 0;
        return list.isUsable(owner.domain(), right)
                ? CompletionStatus.SUCCESS
                : CompletionStatus.LOCAL_PROTECTION_ERROR;
    }
}
