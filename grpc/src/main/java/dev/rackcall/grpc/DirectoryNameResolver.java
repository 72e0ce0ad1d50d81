package dev.rackcall.grpc;

import dev.rackcall.directory.ChannelView;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.DirectoryOptions;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.grpc.wire.PipeServers;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.spi.CarrierProvider;
import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.Status;
import io.grpc.StatusOr;
import io.grpc.SynchronizationContext;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Gives gRPC the servers of a channel that a directory names, each at its best address: in memory if it runs in this
 * process's runtime folder. Methods run in the channel's synchronisation context, and a thread of its own waits for the
 * directory.
 */
final class DirectoryNameResolver extends NameResolver {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final int MOST_TURNS = 1 << 10;

    private final String channel;
    private final URI address;
    private final boolean hasFallback;
    private final SynchronizationContext context;
    private final int turn = ThreadLocalRandom.current().nextInt(MOST_TURNS);
    private Listener2 listener;
    private boolean opening;
    private boolean closed;
    /** Null while the directory is not open. */
    private Directory directory;

    private ChannelView view;

    /**
     * With a fallback, does not wait for a first server.
     *
     * @throws IllegalArgumentException with a fallback, if the address has options that no directory knows
     */
    DirectoryNameResolver(String channel, URI address, boolean hasFallback, NameResolver.Args args) {
        RuntimeDirectory.checkName(channel);
        this.channel = channel;
        this.address = address;
        this.hasFallback = hasFallback;
        this.context = args.getSynchronizationContext();
        if (hasFallback) {
            checkOptions(address);
        }
    }

    /** A directory that never opens would hide behind the fallback. */
    private static void checkOptions(URI address) {
        try {
            DirectoryOptions.of(address);
        } catch (DirectoryException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    @Override
    public String getServiceAuthority() {
        return RackcallChannelBuilder.AUTHORITY;
    }

    @Override
    public void start(Listener2 given) {
        listener = given;
        open();
    }

    private void open() {
        opening = true;
        Thread thread = new Thread(this::join, "rackcall-grpc-directory");
        thread.setDaemon(true);
        thread.start();
    }

    private void join() {
        Directory joined = null;
        try {
            joined = Directory.open(address);
            Directory made = joined;
            ChannelView followed = made.follow(DirectoryEntry.name(channel));
            if (!hasFallback || !made.endpoints(followed.channel()).isEmpty()) {
                followed.await(PATIENCE);
            }
            context.execute(() -> opened(made, followed));
        } catch (DirectoryException e) {
            leave(joined, e.getMessage());
        } catch (NoClassDefFoundError e) {
            leave(joined, "the artifact rackcall-directory is not on the class path: " + e.getMessage());
        } catch (RuntimeException | Error e) {
            leave(joined, e.toString());
        } catch (InterruptedException e) {
            leave(joined, "this thread was interrupted");
            Thread.currentThread().interrupt();
        }
    }

    private void leave(Directory joined, String why) {
        try {
            if (joined != null) {
                joined.close();
            }
        } finally {
            context.execute(() -> failed(why));
        }
    }

    private void opened(Directory made, ChannelView followed) {
        opening = false;
        directory = made;
        view = followed;
        if (closed) {
            close();
            return;
        }
        tell();
        followed.listen(change -> context.execute(this::tell));
    }

    private void failed(String why) {
        opening = false;
        if (!closed) {
            fail("the directory " + address + ": " + why);
        }
    }

    @Override
    public void refresh() {
        if (view != null) {
            tell();
        } else if (!opening) {
            open();
        }
    }

    @Override
    public void shutdown() {
        closed = true;
        if (directory != null) {
            close();
        }
    }

    /** Leaves the directory, which may take a moment. */
    private void close() {
        Directory left = directory;
        ChannelView followed = view;
        Thread.ofVirtual().name("rackcall-grpc-leave").start(() -> {
            followed.close();
            left.close();
        });
    }

    /** gRPC would end the channel for good if this threw. */
    private void tell() {
        if (closed) {
            return;
        }
        try {
            tellServers();
        } catch (RuntimeException | Error e) {
            // Errors, too: a carrier's provider or its native library may be broken, and later looks may succeed.
            fail("the servers of channel " + channel + " at " + address + " could not be looked at: " + e);
        }
    }

    private void tellServers() {
        List<Endpoint> endpoints = view.endpoints();
        List<EquivalentAddressGroup> groups = new ArrayList<>();
        Map<String, RackcallSocketAddress> near = near();
        for (Endpoint each : endpoints) {
            best(each, near).map(EquivalentAddressGroup::new).ifPresent(groups::add);
        }
        if (groups.isEmpty()) {
            fail(
                    endpoints.isEmpty()
                            ? "no gRPC server of channel " + channel + " is announced at " + address
                            : "none of the " + endpoints.size() + " servers of channel " + channel + " at " + address
                                    + " is reachable from here; other hosts are reached over addresses of listen(URI), with"
                                    + " rackcall-rdma");
            return;
        }
        // gRPC's default policy takes the first that it reaches; different clients should not take the same one.
        Collections.rotate(groups, turn);
        listener.onResult2(ResolutionResult.newBuilder()
                .setAddressesOrError(StatusOr.fromValue(groups))
                .build());
    }

    /** The servers in this process's runtime folder by their marks. */
    private Map<String, RackcallSocketAddress> near() {
        Map<String, RackcallSocketAddress> servers = new HashMap<>();
        try {
            RackcallSocketAddress any = RackcallSocketAddress.of(channel);
            for (String id : PipeServers.living(RuntimeDirectory.at(any.directory()), channel)) {
                servers.put(DirectoryEntry.mark(any.directory(), id), any.ofServer(id));
            }
        } catch (RuntimeException | IOException e) {
            // Their other addresses remain.
            return Map.of();
        }
        return servers;
    }

    private Optional<RackcallSocketAddress> best(Endpoint endpoint, Map<String, RackcallSocketAddress> near) {
        for (Map.Entry<String, RackcallSocketAddress> each : near.entrySet()) {
            if (DirectoryEntry.isOf(endpoint, each.getKey())) {
                return Optional.of(each.getValue());
            }
        }
        return firstUsable(endpoint.rdma(), true)
                .or(() -> firstUsable(endpoint.tcp(), false))
                .map(remote -> RackcallSocketAddress.of(channel, remote));
    }

    private static Optional<URI> firstUsable(List<URI> addresses, boolean hardware) {
        return addresses.stream()
                .filter(each -> CarrierProvider.of(each)
                        .filter(provider -> provider.isAlike(each, hardware)
                                && provider.obstacle(each).isEmpty())
                        .isPresent())
                .findFirst();
    }

    private void fail(String description) {
        listener.onResult2(ResolutionResult.newBuilder()
                .setAddressesOrError(StatusOr.fromStatus(Status.UNAVAILABLE.withDescription(description)))
                .build());
    }
}
