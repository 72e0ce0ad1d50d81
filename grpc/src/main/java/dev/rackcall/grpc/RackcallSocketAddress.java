package dev.rackcall.grpc;

import dev.rackcall.rpc.runtime.RuntimeDirectory;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.util.Objects;

/** The address of a gRPC server on this host: a channel's name, and the runtime folder in which the server listens. */
public final class RackcallSocketAddress extends SocketAddress {
    private static final long serialVersionUID = 1L;

    /** URI scheme of targets, as in {@code rackcall:///shop/cart}. */
    public static final String SCHEME = "rackcall";

    private final String channel;
    private final String directory;

    private RackcallSocketAddress(String channel, Path directory) {
        RuntimeDirectory.checkName(channel);
        this.channel = channel;
        this.directory = directory.toString();
    }

    /**
     * The address of a channel in the default runtime folder.
     *
     * @throws dev.rackcall.rpc.RpcException INVALID_ARGUMENT if that is no channel's name
     */
    public static RackcallSocketAddress of(String channel) {
        return of(channel, RuntimeDirectory.defaultPath());
    }

    /**
     * The address of a channel in another runtime folder.
     *
     * @throws dev.rackcall.rpc.RpcException INVALID_ARGUMENT if that is no channel's name
     */
    public static RackcallSocketAddress of(String channel, Path directory) {
        return new RackcallSocketAddress(channel, directory);
    }

    /** The channel's name, as in {@code /shop/cart}. */
    public String channel() {
        return channel;
    }

    /** Where the server listens. */
    public Path directory() {
        return Path.of(directory);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RackcallSocketAddress that
                && channel.equals(that.channel)
                && directory.equals(that.directory);
    }

    @Override
    public int hashCode() {
        return Objects.hash(channel, directory);
    }

    @Override
    public String toString() {
        return SCHEME + "://" + channel;
    }
}
