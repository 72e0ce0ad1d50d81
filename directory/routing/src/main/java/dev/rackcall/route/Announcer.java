package dev.rackcall.route;

import dev.rackcall.directory.Announcement;
import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.rpc.spi.HostAddress;
import dev.rackcall.rpc.spi.Router;
import dev.rackcall.rpc.spi.ServerEndpoint;
import dev.rackcall.rpc.spi.ServerSpec;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Announces one server in a directory: an endpoint for each of its channels, all with one id. */
final class Announcer implements Router.Announcement {
    private static final Logger LOG = LoggerFactory.getLogger(Announcer.class);
    /** The interval between two samples of the load; ten samples, 5 s, make a report. */
    private static final long LOAD_MILLIS = 500;

    private static final int MAX_HOST_IN_ID = 32;
    /** How long a closing server waits for the directory, however many channels it has. */
    private static final long PATIENCE_MILLIS = 1_000;

    /** Endpoint ids of this process, with the runtime folders of their sockets. */
    private static final Map<String, Path> OWN = new ConcurrentHashMap<>();

    private final SharedDirectory shared;
    private final ServerEndpoint server;
    private final String id;
    private final LoadMeter load = new LoadMeter();
    private final List<Announcement> announcements = new ArrayList<>();
    private Optional<Future<?>> loadTicks = Optional.empty();
    private final AtomicBoolean closed = new AtomicBoolean();

    private Announcer(SharedDirectory shared, ServerEndpoint server, String id) {
        this.shared = shared;
        this.server = server;
        this.id = id;
    }

    static Announcer announce(ServerSpec spec, ServerEndpoint server, Router.Membership membership) {
        String id = newId(membership.host());
        Announcer announcer = new Announcer(SharedDirectory.join(membership.directory()), server, id);
        try {
            if (spec.place().pool().isEmpty()) {
                OWN.put(id, spec.place().directory());
            }
            for (ServerSpec.Service<?> service : spec.services()) {
                Endpoint endpoint = endpoint(spec, server, membership.host(), id)
                        .withFingerprint(service.definition().fingerprint());
                announcer.announcements.add(
                        announcer.shared.directory().announce(ChannelName.of(service.channel()), endpoint));
            }
            announcer.loadTicks = Optional.of(Background.every(LOAD_MILLIS, announcer::lookAtLoad));
            return announcer;
        } catch (RuntimeException | Error e) {
            announcer.close();
            throw e;
        }
    }

    /** The runtime folder of an endpoint's server, if the server runs in this process. */
    static Optional<Path> ownFolder(String endpointId) {
        return Optional.ofNullable(OWN.get(endpointId));
    }

    /** A new id for each start, so that entries of a dead server do not conflict. */
    private static String newId(String host) {
        String readable = host.replaceAll("[^A-Za-z0-9_-]", "-");
        return readable.substring(0, Math.min(readable.length(), MAX_HOST_IN_ID)) + "-"
                + ProcessHandle.current().pid() + "-"
                + Integer.toHexString(new Random().nextInt() | Integer.MIN_VALUE);
    }

    private static Endpoint endpoint(ServerSpec spec, ServerEndpoint server, String host, String id) {
        Endpoint endpoint = Endpoint.of(id, host, 0);
        Optional<String> memory = spec.place()
                .pool()
                .map(MemoryNames::pool)
                .or(() -> MemoryNames.host(spec.place().directory()));
        if (memory.isPresent()) {
            endpoint = endpoint.withPool(memory.get());
        }
        if (server.instance().isPresent()) {
            endpoint = endpoint.withPool(MemoryNames.SERVER + server.instance().get());
        }
        Map<Boolean, List<URI>> byHardware = server.addresses().stream()
                .map(HostAddress::announced)
                .collect(Collectors.partitioningBy(HostAddress::isHardware));
        return endpoint.withRdma(byHardware.get(true)).withTcp(byHardware.get(false));
    }

    private void lookAtLoad() {
        load.see(server.callsUnderWay()).ifPresent(this::tellLoad);
    }

    private void tellLoad(int calls) {
        for (Announcement announcement : announcements) {
            if (!closed.get() && LoadMeter.isNews(announcement.endpoint().load(), calls)) {
                try {
                    announcement.update(announcement.endpoint().withLoad(calls));
                } catch (DirectoryException e) {
                    LOG.debug("the load of {} is reported later: {}", announcement.channel(), e.getMessage());
                }
            }
        }
    }

    /**
     * Returns when the server is withdrawn, or after a moment if the directory does not answer: the withdrawal then
     * continues in the background.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        loadTicks.ifPresent(ticks -> ticks.cancel(false));
        OWN.remove(id);
        try {
            Background.submit(this::withdraw).get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException e) {
            LOG.info(
                    "{} is withdrawn from {} when the directory answers, or when its lease ends", id, shared.address());
        } catch (ExecutionException e) {
            LOG.warn("{} could not be withdrawn from {}", id, shared.address(), e);
        }
    }

    private void withdraw() {
        for (Announcement announcement : announcements) {
            try {
                announcement.close();
            } catch (DirectoryException e) {
                LOG.info("{} is not withdrawn yet: {}", announcement.channel(), e.getMessage());
            }
        }
        shared.close();
    }

    /**
     * The load that a server reports: its calls in flight, averaged over several samples, because a single sample of
     * short calls says nothing. Used by one thread at a time.
     */
    static final class LoadMeter {
        /** Samples for one average. */
        static final int LOOKS = 10;

        private int looks;
        private long sum;

        /** Adds a sample. With enough samples it returns their rounded average and starts again. */
        OptionalInt see(int calls) {
            sum += calls;
            if (++looks < LOOKS) {
                return OptionalInt.empty();
            }
            int average = (int) ((sum + LOOKS / 2) / LOOKS);
            looks = 0;
            sum = 0;
            return OptionalInt.of(average);
        }

        /**
         * Whether to report a new average: it must differ by a factor of more than 1.5, and by more than one, because
         * rounding alone can cause a difference of one. Each report is a write to the directory and is sent to all
         * clients that follow the channel.
         */
        static boolean isNews(int told, int now) {
            return Math.abs((long) now - told) > 1 && (2L * now > 3L * told || 3L * now < 2L * told);
        }
    }
}
