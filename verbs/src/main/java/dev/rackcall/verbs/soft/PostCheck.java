package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.Errno;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;

/** What is refused at the moment of posting because it can never work. */
final class PostCheck {
    private PostCheck() {}

    static void check(SoftQueuePair queuePair, WorkRequest request) {
        QueuePairSpec spec = queuePair.spec();
        if (!spec.type().allows(request.opcode())) {
            throw refusal(queuePair, request, "a " + spec.type() + " queue pair cannot do it");
        }
        boolean inline = (request.flags() & WorkRequest.INLINE) != 0;
        if (inline && request.segmentLength(0) > spec.maxInline()) {
            throw refusal(
                    queuePair,
                    request,
                    request.segmentLength(0) + " bytes inline exceed its " + spec.maxInline()
                            + ": make it with more (withInline)");
        }
        if (inline && request.opcode().isReadOrAtomic()) {
            throw refusal(queuePair, request, "its result cannot be inline: give it a segment");
        }
        if (request.segments() > spec.maxSegments()) {
            throw refusal(
                    queuePair,
                    request,
                    request.segments() + " segments exceed its " + spec.maxSegments()
                            + ": make it with more (withSegments)");
        }
        if (spec.type().isAddressedPerRequest() && request.destination().isEmpty()) {
            throw refusal(queuePair, request, "name a destination");
        }
    }

    private static VerbsException refusal(SoftQueuePair queuePair, WorkRequest request, String reason) {
        return new VerbsException(
                "posting " + request.opcode() + " to queue pair " + queuePair.number(), Errno.EINVAL, reason);
    }
}
