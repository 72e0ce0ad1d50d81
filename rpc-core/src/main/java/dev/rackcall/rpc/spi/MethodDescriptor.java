package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.Isolation;

/**
 * One method of a service as both ends know it.
 *
 * @param service the channel name, for example {@code /shop/search}
 * @param name the Java method's name
 * @param signature the method as a user reads it, for example {@code long put(String key, byte[] value)}; part of the fingerprint
 * @param index position in {@link ServiceDefinition#methods()}; what travels in a request
 * @param kind how the method is called
 * @param idempotent whether the runtime may repeat it
 * @param isolation how its shared arguments are kept safe unless the caller chooses; never {@link Isolation#DEFAULT}
 */
public record MethodDescriptor(
        String service, String name, String signature, int index, Kind kind, boolean idempotent, Isolation isolation) {
    public MethodDescriptor {
        isolation = isolation.or(Isolation.TRUSTED);
    }

    /** How a method is called. */
    public enum Kind {
        UNARY,
        ASYNC,
        ONE_WAY,
        SERVER_STREAM
    }

    /** {@code /shop/search/put}, the form that grpc-java users know from full method names. */
    public String fullName() {
        return service + "/" + name;
    }

    @Override
    public String toString() {
        return fullName();
    }
}
