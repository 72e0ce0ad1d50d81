package dev.rackcall.grpc;

import dev.rackcall.rpc.runtime.RuntimeDirectory;
import java.net.SocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Objects;

/** The address of a channel's gRPC servers on this host: its name, and the runtime folder in which they listen. */
public final class RackcallSocketAddress extends SocketAddress {
    private static final long serialVersionUID = 1L;

    /** URI scheme of targets, as in {@code rackcall:///shop/cart}. */
    public static final String SCHEME = "rackcall";

    private static final String FOLDER = "folder=";

    private final String channel;
    private final String directory;
    /** Which of the channel's servers; empty for any. */
    private final String server;

    private RackcallSocketAddress(String channel, String directory, String server) {
        RuntimeDirectory.checkName(channel);
        this.channel = channel;
        this.directory = directory;
        this.server = server;
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
        return new RackcallSocketAddress(channel, directory.toString(), "");
    }

    /** The address of one of the servers at this address. */
    RackcallSocketAddress ofServer(String id) {
        return new RackcallSocketAddress(channel, directory, id);
    }

    /** The server's id; empty if this is the address of any server of the channel. */
    String server() {
        return server;
    }

    /** What a channel's builder resolves: the channel's name, and the folder where it is not the default one. */
    String target() {
        String query = directory().equals(RuntimeDirectory.defaultPath()) ? null : FOLDER + directory;
        try {
            return new URI(SCHEME, "", channel, query, null).toString();
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("no target has the folder " + directory + ": " + e.getMessage(), e);
        }
    }

    /**
     * The address of a target.
     *
     * @throws dev.rackcall.rpc.RpcException INVALID_ARGUMENT if its path is no channel's name
     */
    static RackcallSocketAddress ofTarget(URI target) {
        String query = target.getQuery();
        if (query == null) {
            return of(target.getPath());
        }
        if (!query.startsWith(FOLDER)) {
            throw new IllegalArgumentException("the target " + target + " has the query " + query + "; only " + FOLDER
                    + "/the/runtime/folder is known");
        }
        return of(target.getPath(), Path.of(query.substring(FOLDER.length())));
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
                && directory.equals(that.directory)
                && server.equals(that.server);
    }

    @Override
    public int hashCode() {
        return Objects.hash(channel, directory, server);
    }

    @Override
    public String toString() {
        return SCHEME + "://" + channel + (server.isEmpty() ? "" : "@" + server);
    }
}
