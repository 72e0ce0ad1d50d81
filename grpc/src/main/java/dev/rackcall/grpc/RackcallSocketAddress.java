package dev.rackcall.grpc;

import dev.rackcall.rpc.runtime.RuntimeDirectory;
import java.net.SocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * The address of a channel's gRPC servers: its name, and the runtime folder of this host in which they listen, or an
 * address of another host.
 */
public final class RackcallSocketAddress extends SocketAddress {
    private static final long serialVersionUID = 1L;

    /** URI scheme of targets, as in {@code rackcall:///shop/cart}. */
    public static final String SCHEME = "rackcall";

    private static final String FOLDER = "folder=";
    private static final String ADDRESS = "address=";
    static final String DIRECTORY = "directory=";

    private final String channel;
    private final String directory;
    /** Which of the channel's servers; empty for any. */
    private final String server;
    /** Where a server listens for processes that share no memory with it; null inside a host. */
    private final URI remote;

    private RackcallSocketAddress(String channel, String directory, String server, URI remote) {
        RuntimeDirectory.checkName(channel);
        this.channel = channel;
        this.directory = directory;
        this.server = server;
        this.remote = remote;
    }

    /**
     * The address of a channel in the default runtime folder.
     *
     * @throws dev.rackcall.rpc.RpcException INVALID_ARGUMENT if that is not the name of a channel
     */
    public static RackcallSocketAddress of(String channel) {
        return of(channel, RuntimeDirectory.defaultPath());
    }

    /**
     * The address of a channel in another runtime folder.
     *
     * @throws dev.rackcall.rpc.RpcException INVALID_ARGUMENT if that is not the name of a channel
     */
    public static RackcallSocketAddress of(String channel, Path directory) {
        return new RackcallSocketAddress(channel, directory.toString(), "", null);
    }

    /**
     * The address of a server that shares no memory with this process, as given to {@code
     * RackcallServerBuilder.listen}.
     *
     * @param remote such as {@code soft://host:18515}
     * @throws dev.rackcall.rpc.RpcException INVALID_ARGUMENT if that is not the name of a channel
     */
    public static RackcallSocketAddress of(String channel, URI remote) {
        return new RackcallSocketAddress(channel, "", "", Objects.requireNonNull(remote, "remote"));
    }

    /** The address of one of the servers at this address. */
    RackcallSocketAddress ofServer(String id) {
        return new RackcallSocketAddress(channel, directory, id, null);
    }

    /** The server's id; empty if this is the address of any server of the channel. */
    String server() {
        return server;
    }

    /** What a channel's builder resolves for the servers that a directory names. */
    static String targetOf(String channel, URI directory) {
        RuntimeDirectory.checkName(channel);
        return target(channel, DIRECTORY + directory);
    }

    /** The directory that a target names; empty if it names none. */
    static Optional<URI> directoryOf(URI target) {
        return Optional.ofNullable(target.getQuery())
                .filter(query -> query.startsWith(DIRECTORY))
                .map(query -> URI.create(query.substring(DIRECTORY.length())));
    }

    /** What a channel's builder resolves: the channel's name, and the folder where it is not the default one. */
    String target() {
        return target(channel, query());
    }

    private static String target(String channel, String query) {
        try {
            return new URI(SCHEME, "", channel, query, null).toString();
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("no target has the query " + query + ": " + e.getMessage(), e);
        }
    }

    private String query() {
        if (remote != null) {
            return ADDRESS + remote;
        }
        return directory().equals(RuntimeDirectory.defaultPath()) ? null : FOLDER + directory;
    }

    /**
     * The address of a target.
     *
     * @throws dev.rackcall.rpc.RpcException INVALID_ARGUMENT if its path is not the name of a channel
     */
    static RackcallSocketAddress ofTarget(URI target) {
        String query = target.getQuery();
        if (query == null) {
            return of(target.getPath());
        }
        if (query.startsWith(ADDRESS)) {
            return of(target.getPath(), URI.create(query.substring(ADDRESS.length())));
        }
        if (!query.startsWith(FOLDER)) {
            throw new IllegalArgumentException("the target " + target + " has the query " + query + "; only " + FOLDER
                    + "/the/runtime/folder, " + ADDRESS + "soft://host:port, " + DIRECTORY + "file:///a/folder and "
                    + FallbackTarget.PARAMETER + "dns:///host:port are known");
        }
        return of(target.getPath(), Path.of(query.substring(FOLDER.length())));
    }

    /** The channel's name, as in {@code /shop/cart}. */
    public String channel() {
        return channel;
    }

    /** Where a server of another host listens; empty if this is an address of this host. */
    public Optional<URI> remote() {
        return Optional.ofNullable(remote);
    }

    /** The runtime folder in which a server of this host listens. */
    public Path directory() {
        return Path.of(directory);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RackcallSocketAddress that
                && channel.equals(that.channel)
                && directory.equals(that.directory)
                && server.equals(that.server)
                && Objects.equals(remote, that.remote);
    }

    @Override
    public int hashCode() {
        return Objects.hash(channel, directory, server, remote);
    }

    @Override
    public String toString() {
        if (remote != null) {
            return target();
        }
        return SCHEME + "://" + channel + (server.isEmpty() ? "" : "@" + server);
    }
}
