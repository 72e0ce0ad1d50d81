package dev.rackcall.rpc.spi;

/** One way to reach a peer. Found by {@link java.util.ServiceLoader}; stateless and thread-safe. */
public interface Transport {
    /** For people: {@code shared memory}. */
    String name();

    /**
     * Connects to a channel's server.
     *
     * @throws dev.rackcall.rpc.RpcException NOT_FOUND if nobody serves the channel, UNAVAILABLE if its server does not answer in time,
     *     PERMISSION_DENIED if it refuses this user, FAILED_PRECONDITION if it speaks another version
     */
    ClientConnection connect(ClientSpec spec);

    /**
     * Begins to serve.
     *
     * @throws dev.rackcall.rpc.RpcException ALREADY_EXISTS if a living server has one of the channels
     */
    ServerEndpoint serve(ServerSpec spec);
}
