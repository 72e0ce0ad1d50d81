package dev.rackcall.rpc.schema;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.MethodDescriptor;
import java.util.Optional;

/**
 * One method of a client, as a server of another version has it.
 *
 * @param there the method with the server's number; null if the server has no such method
 * @param arguments converts what the client encodes; null if both encode it alike
 * @param elements converts each element that the client sends; null if both encode it alike
 * @param result converts what the server encodes, the whole result or one element of a stream; null if both encode it
 *     alike
 */
record AdaptedMethod(MethodDescriptor there, Converter arguments, Converter elements, Converter result) {
    static AdaptedMethod of(MethodDescriptor method, Optional<Compatibility.Plan> plan) {
        return plan.map(found -> new AdaptedMethod(
                        new MethodDescriptor(
                                method.service(),
                                method.name(),
                                method.signature(),
                                found.there().index(),
                                method.kind(),
                                method.idempotent(),
                                stricter(method.isolation(), found.there().isolation()),
                                method.writes()),
                        found.arguments().orElse(null),
                        found.elements().orElse(null),
                        found.result().orElse(null)))
                .orElseGet(() -> new AdaptedMethod(null, null, null, null));
    }

    /** The mode that trusts the caller less: a server that demands one of the two accepts it. */
    static Isolation stricter(Isolation one, Isolation other) {
        return one.compareTo(other) >= 0 ? one : other;
    }

    boolean isMissing() {
        return there == null;
    }

    boolean isEncodedAlike() {
        return arguments == null && elements == null && result == null;
    }

    boolean isStream() {
        return there.kind().returnsStream();
    }
}
