package dev.rackcall.rpc;

import java.util.Optional;
import java.util.ServiceLoader;

/**
 * The runtime behind this package, found by {@link ServiceLoader}: {@code rpc-core} contains the only one. It keeps the API free of references to its
 * implementation. Stateless and thread-safe.
 */
public interface RpcProvider {
    /** The settings of a channel that is to be opened. */
    RpcChannel.Builder channel(String name);

    /** The settings of a server that is to be started. */
    RpcServer.Builder server();

    /** The call that the current thread serves. */
    Optional<RpcContext> currentCall();

    /**
     * The runtime on the class path.
     *
     * @throws IllegalStateException if there is none
     */
    static RpcProvider get() {
        return Found.PROVIDER;
    }

    /** Holder idiom: the class path is searched once. */
    final class Found {
        private static final RpcProvider PROVIDER = ServiceLoader.load(
                        RpcProvider.class, RpcProvider.class.getClassLoader())
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no runtime on the class path; META-INF/services/"
                        + RpcProvider.class.getName() + " is missing"));

        private Found() {}
    }
}
