package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.Status;
import java.net.URI;
import java.util.Objects;
import java.util.ServiceLoader;

/**
 * Announces servers in a directory, and finds them and the best route to each. Found by {@link ServiceLoader}, so that
 * channels named by hand need no directory on the class path. Stateless and thread-safe.
 */
public interface Router {
    /**
     * How a process takes part in a directory.
     *
     * @param directory for example {@code file:///a/folder} or {@code zk://host:2181,host:2181}
     * @param host the name of this host, for people and to tell hosts apart
     */
    record Membership(URI directory, String host) {
        /** Checks that both are present. */
        public Membership {
            Objects.requireNonNull(directory, "directory");
            Objects.requireNonNull(host, "host");
        }
    }

    /** A server's entry in the directory. */
    interface Announcement extends AutoCloseable {
        /** Withdraws the entry. Connected clients stay connected. Idempotent. */
        @Override
        void close();
    }

    /**
     * Connects to a channel, wherever it is served; the connection changes its routes by itself.
     *
     * @throws dev.rackcall.rpc.RpcException NOT_FOUND if the directory names no endpoint, UNAVAILABLE if none of them,
     *     or the directory, can be reached
     */
    ClientConnection connect(ClientSpec spec, Membership membership);

    /**
     * Names a server in the directory until the announcement is closed or this process has died.
     *
     * @throws dev.rackcall.rpc.RpcException UNAVAILABLE if the directory does not answer
     */
    Announcement announce(ServerSpec spec, ServerEndpoint endpoint, Membership membership);

    /**
     * The router on the class path.
     *
     * @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if there is none
     */
    static Router get() {
        return ServiceLoader.load(Router.class, Router.class.getClassLoader())
                .findFirst()
                .orElseThrow(() -> Status.Code.FAILED_PRECONDITION
                        .with("directories need rackcall-routing on the class path")
                        .asException());
    }
}
