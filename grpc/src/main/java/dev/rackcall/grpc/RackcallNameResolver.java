package dev.rackcall.grpc;

import dev.rackcall.grpc.wire.PipeServers;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.shm.os.OsException;
import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.Status;
import io.grpc.StatusOr;
import io.grpc.SynchronizationContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Gives gRPC the addresses of a channel's living servers, and again when servers start or end. All methods run in the
 * channel's synchronisation context.
 */
final class RackcallNameResolver extends NameResolver {
    /** The runtime folder's time changes when a server starts or ends; a killed one is noticed by its connection. */
    private static final long LOOK_MILLIS = 1800;

    /** A look that follows another one sooner might see no more than that one, because file times are coarse. */
    private static final long LEAST_MILLIS = 200;

    /** All resolvers of a process look at the same moments, so that a thread wakes once for a thousand channels. */
    private static final long PHASE_MILLIS = ThreadLocalRandom.current().nextLong(LOOK_MILLIS);

    private static final int MOST_TURNS = 1 << 10;
    private static final FileTime NEVER = FileTime.fromMillis(0);

    private final RackcallSocketAddress address;
    private final boolean hasFallback;
    private final RuntimeDirectory directory;
    private final SynchronizationContext context;
    private final ScheduledExecutorService timers;
    private Listener2 listener;
    private SynchronizationContext.ScheduledHandle next;
    private FileTime seen = NEVER;
    /** Whether the next look counts even if the folder's time stays the same. */
    private boolean again;

    private List<String> known = List.of();
    /** Why the last look failed; empty if it did not. */
    private String trouble = "";

    private final int turn = ThreadLocalRandom.current().nextInt(MOST_TURNS);

    /** With a fallback, reports an error while no server is living. */
    RackcallNameResolver(RackcallSocketAddress address, boolean hasFallback, NameResolver.Args args) {
        this.address = address;
        this.hasFallback = hasFallback;
        this.directory = RuntimeDirectory.at(address.directory());
        this.context = args.getSynchronizationContext();
        this.timers = args.getScheduledExecutorService();
    }

    @Override
    public String getServiceAuthority() {
        return RackcallChannelBuilder.AUTHORITY;
    }

    @Override
    public void start(Listener2 given) {
        listener = given;
        again = true;
        seen = changed();
        known = living();
        tell();
        lookLater();
    }

    @Override
    public void refresh() {
        List<String> now = living();
        if (!now.equals(known)) {
            known = now;
            tell();
        }
    }

    @Override
    public void shutdown() {
        if (next != null) {
            next.cancel();
        }
    }

    private void lookLater() {
        long now = TimeUnit.NANOSECONDS.toMillis(System.nanoTime()) + PHASE_MILLIS;
        long left = LOOK_MILLIS - Math.floorMod(now, LOOK_MILLIS);
        next = context.schedule(
                this::look, left < LEAST_MILLIS ? left + LOOK_MILLIS : left, TimeUnit.MILLISECONDS, timers);
    }

    private void look() {
        FileTime now = changed();
        boolean hasChanged = !now.equals(seen);
        if (hasChanged || again) {
            // A server may have made its files but not locked them yet, and file times may be accurate only to
            // some milliseconds. So refresh once more at the next look after a change.
            again = hasChanged;
            seen = now;
            refresh();
        }
        lookLater();
    }

    private FileTime changed() {
        try {
            return Files.getLastModifiedTime(directory.path());
        } catch (IOException e) {
            // No server has made it yet.
            return NEVER;
        }
    }

    /** The ids of the living servers; if they cannot be found, the known ones, and the next look tries again. */
    private List<String> living() {
        try {
            List<String> found = PipeServers.living(directory, address.channel());
            trouble = "";
            return found;
        } catch (RpcException | OsException e) {
            // The known servers may still run. If none is known, connecting fails for the same reason, which callers
            // then see.
            again = true;
            trouble = ", and the last look failed: " + e.getMessage();
            return known;
        }
    }

    private void tell() {
        if (known.isEmpty() && hasFallback) {
            tell(StatusOr.fromStatus(Status.UNAVAILABLE.withDescription("no gRPC server of channel " + address.channel()
                    + " runs in the folder " + directory.path() + trouble)));
            return;
        }
        // Without a server, the channel's own address: connecting to it says what is missing.
        List<EquivalentAddressGroup> groups = new ArrayList<>();
        known.forEach(id -> groups.add(new EquivalentAddressGroup(address.ofServer(id))));
        if (groups.isEmpty()) {
            groups.add(new EquivalentAddressGroup(address));
        }
        // gRPC's default policy takes the first that it reaches; different clients should not take the same one.
        Collections.rotate(groups, turn);
        tell(StatusOr.fromValue(groups));
    }

    private void tell(StatusOr<List<EquivalentAddressGroup>> servers) {
        listener.onResult2(
                ResolutionResult.newBuilder().setAddressesOrError(servers).build());
    }
}
