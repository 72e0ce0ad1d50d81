package dev.rackcall.grpc;

import dev.rackcall.directory.Announcement;
import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.spi.HostAddress;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server's entry in a directory, until it is closed. Its id begins with the server's id and the number of its runtime
 * folder, so that clients with the same folder call it over shared memory. Neither is unique among hosts, so a random
 * part follows.
 */
final class DirectoryEntry implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DirectoryEntry.class);
    /** Clients of Rackcall's own API that follow a channel must not find servers that speak gRPC only. */
    private static final String PREFIX = "/grpc";

    private static final long PATIENCE_MILLIS = 1_000;

    private final Directory directory;
    private final Announcement announcement;

    private DirectoryEntry(Directory directory, Announcement announcement) {
        this.directory = directory;
        this.announcement = announcement;
    }

    /** The name of a channel in directories. */
    static ChannelName name(String channel) {
        return ChannelName.of(PREFIX + channel);
    }

    /**
     * How the ids of a server's entries begin.
     *
     * @param folder in which the server listens
     * @throws IOException if it is not there
     */
    static String mark(Path folder, String server) throws IOException {
        return server + "-" + Long.toHexString((Long) Files.getAttribute(folder, "unix:ino")) + "-";
    }

    /** Whether an endpoint is the server of this host whose entries have that {@link #mark}. */
    static boolean isOf(Endpoint endpoint, String mark) {
        return endpoint.id().startsWith(mark) && endpoint.host().equals(RuntimeDirectory.hostName());
    }

    /** An endpoint that no other server has. */
    static Endpoint endpoint(String mark) {
        return Endpoint.of(mark + RuntimeDirectory.newId() + RuntimeDirectory.newId(), RuntimeDirectory.hostName(), 0);
    }

    /**
     * Announces a server.
     *
     * @param mark as in {@link #mark}
     * @param listening its addresses for clients that share no memory with it
     * @throws IOException if the directory refuses or does not answer
     */
    static DirectoryEntry announce(URI address, String channel, String mark, List<URI> listening) throws IOException {
        Directory directory = null;
        try {
            directory = Directory.open(address);
            Map<Boolean, List<URI>> byHardware = listening.stream()
                    .map(HostAddress::announced)
                    .collect(Collectors.partitioningBy(HostAddress::isHardware));
            Endpoint endpoint = endpoint(mark).withRdma(byHardware.get(true)).withTcp(byHardware.get(false));
            return new DirectoryEntry(directory, directory.announce(name(channel), endpoint));
        } catch (DirectoryException e) {
            if (directory != null) {
                directory.close();
            }
            throw new IOException("channel " + channel + " is not announced at " + address + ": " + e.getMessage(), e);
        }
    }

    /** Returns when the entry is withdrawn, or after a moment if the directory does not answer. */
    @Override
    public void close() {
        Thread withdrawing = new Thread(this::withdraw, "rackcall-grpc-withdraw");
        withdrawing.setDaemon(true);
        withdrawing.start();
        try {
            withdrawing.join(PATIENCE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void withdraw() {
        try (directory) {
            announcement.close();
        } catch (DirectoryException e) {
            LOG.info("{} is withdrawn when its lease ends: {}", announcement.channel(), e.getMessage());
        }
    }
}
