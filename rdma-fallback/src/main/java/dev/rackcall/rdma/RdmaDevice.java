package dev.rackcall.rdma;

import dev.rackcall.verbs.CompletionChannel;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Devices;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.Unreachable;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import dev.rackcall.verbs.soft.TlsOptions;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An opened device, with a thread that notifies its connections. All connections of this process over one local address
 * and kind of device share it. It is open while there is one, and a moment longer: another connection may follow soon,
 * and opening a device and connecting it to the server's takes longer than all else that a short connection does.
 * Thread-safe.
 */
final class RdmaDevice {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaDevice.class);
    private static final int PORT = 1;
    private static final Duration LOOK = Duration.ofMillis(200);
    /** How often sleeping threads are woken to check the memory, because a device may lose a notification. */
    private static final long REMIND_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** How long a device without connections stays open. */
    private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** If more devices have no connections, the one that was left last does not stay open. */
    private static final int MOST_LINGERING = 8;

    private static final Map<Place, RdmaDevice> OPEN = new HashMap<>();
    /**
     * Devices not yet closed, including those already removed from OPEN. A device in which a connection left an object
     * cannot be closed.
     */
    private static final AtomicInteger UNCLOSED = new AtomicInteger();

    private final Place place;
    private final Context context;
    private final int gidIndex;
    private final CompletionChannel channel;
    private final Map<CompletionQueue, PairCarrier> carriers = new ConcurrentHashMap<>();
    private final Thread thread;
    /** Written with OPEN, as {@link #leftAt}; the device's own thread reads it without, since it must not wait. */
    private volatile int users;

    private long leftAt;
    /**
     * Whether it closes with its last connection: one has failed, so its link to the peer's device may be dead, or too many
     * devices stay open. Written with OPEN, or from false to true.
     */
    private volatile boolean unfit;

    private final Object listening = new Object();
    /** The thread may be interrupted only while it listens. Guarded by listening. */
    private boolean hasListened;

    private volatile boolean closing;
    private volatile long moves;

    private final boolean isSoftware;
    /** {@link RdmaSettings#changes} when it was opened. */
    private final int settings;

    private final Optional<TlsOptions> tls;

    private RdmaDevice(Place place, Context context, int gidIndex, int settings, Optional<TlsOptions> tls) {
        this.place = place;
        this.settings = settings;
        this.tls = tls;
        this.context = context;
        this.isSoftware = context.device().name().startsWith(SoftDevice.PREFIX);
        this.gidIndex = gidIndex;
        this.channel = context.createCompletionChannel();
        UNCLOSED.incrementAndGet();
        this.thread = new Thread(this::deliver, "rackcall-rdma");
        thread.setDaemon(true);
        thread.start();
    }

    /** Connections with the same kind of device and local address share a device. */
    private record Place(DeviceKind devices, InetAddress address) {}

    /** The device of that kind with that local address. The caller {@linkplain #release releases} it. */
    static RdmaDevice acquire(DeviceKind devices, InetAddress local) {
        Place place = new Place(devices, local);
        // Without OPEN, which the device's thread may need before it ends.
        removeOutdated(place).ifPresent(RdmaDevice::close);
        synchronized (OPEN) {
            RdmaDevice device = OPEN.get(place);
            if (device == null) {
                device = open(place);
                OPEN.put(place, device);
            } else {
                device.context.requireUp(PORT);
            }
            device.users = device.users + 1;
            return device;
        }
    }

    private static Optional<RdmaDevice> removeOutdated(Place place) {
        synchronized (OPEN) {
            Optional<RdmaDevice> outdated = Optional.ofNullable(OPEN.get(place)).filter(RdmaDevice::isOutdated);
            outdated.ifPresent(device -> OPEN.remove(place));
            return outdated;
        }
    }

    /** Whether it only lingers, and the next connection must not use it. Called with OPEN. */
    private boolean isOutdated() {
        return users == 0 && (unfit || settings != RdmaSettings.changes());
    }

    private static RdmaDevice open(Place place) {
        InetAddress local = place.address();
        // Before the options: if they change meanwhile, the device counts as outdated.
        int settings = RdmaSettings.changes();
        List<Device> real = place.devices() == DeviceKind.SOFTWARE ? List.of() : real();
        for (Device device : real) {
            Context context = device.open();
            Optional<Integer> exact = gidOf(context, local);
            if (exact.isPresent()) {
                return up(place, context, exact.get(), settings, Optional.empty());
            }
            context.close();
        }
        if (!real.isEmpty() && !local.isLoopbackAddress()) {
            Context context = real.getFirst().open();
            return up(place, context, anyGid(context), settings, Optional.empty());
        }
        SoftOptions options = RdmaSettings.softwareDevices().at(local, 0);
        return up(place, SoftDevice.of("rackcall", options).open(), 0, settings, options.tls());
    }

    /** The certificates of the software device with that local address, whether it is open or not. */
    static Optional<TlsOptions> tls(DeviceKind devices, InetAddress local) {
        synchronized (OPEN) {
            RdmaDevice device = OPEN.get(new Place(devices, local));
            if (device != null && !device.isOutdated()) {
                return device.tls;
            }
        }
        return devices == DeviceKind.SOFTWARE || !isReal(local.isLoopbackAddress())
                ? RdmaSettings.softwareDevices().tls()
                : Optional.empty();
    }

    private static RdmaDevice up(Place place, Context context, int gidIndex, int settings, Optional<TlsOptions> tls) {
        try {
            context.requireUp(PORT);
        } catch (VerbsException e) {
            context.close();
            throw e;
        }
        return new RdmaDevice(place, context, gidIndex, settings, tls);
    }

    /**
     * Whether a connection uses a real device. If the host has one, all connections use it except those within this
     * host.
     */
    static boolean isReal(boolean loopback) {
        return !loopback && !real().isEmpty();
    }

    private static List<Device> real() {
        List<Device> real = new ArrayList<>(Devices.list());
        real.removeIf(device -> device.name().startsWith(SoftDevice.PREFIX));
        return real;
    }

    /**
     * The real devices whose ports are down, as the end of a message about an unreachable address, which is usually in
     * their network. Usually empty.
     */
    static String portsDown() {
        StringBuilder down = new StringBuilder();
        for (Device device : real()) {
            try (Context context = device.open()) {
                context.requireUp(PORT);
            } catch (VerbsException e) {
                down.append("; here ").append(e.getMessage());
            }
        }
        return down.toString();
    }

    private static Optional<Integer> gidOf(Context context, InetAddress local) {
        if (!(local instanceof Inet4Address)) {
            return Optional.empty();
        }
        long wanted = 0xffff_0000_0000L | (ByteBuffer.wrap(local.getAddress()).getInt() & 0xffff_ffffL);
        int length = context.port(PORT).gidTableLength();
        Optional<Integer> found = Optional.empty();
        for (int i = 0; i < length; i++) {
            // If several GIDs have the address, the last belongs to the newer protocol.
            if (context.gid(PORT, i).equals(new Gid(0, wanted))) {
                found = Optional.of(i);
            }
        }
        return found;
    }

    private static int anyGid(Context context) {
        int length = context.port(PORT).gidTableLength();
        for (int i = 0; i < length; i++) {
            if (context.gid(PORT, i).isIpv4()) {
                return i;
            }
        }
        return 0;
    }

    void release() {
        synchronized (OPEN) {
            users = users - 1;
            leftAt = System.nanoTime();
            unfit |= OPEN.values().stream().filter(each -> each.users == 0).count() > MOST_LINGERING;
        }
    }

    /** A connection over it has failed. */
    void doubt() {
        unfit = true;
    }

    /** Whether it has been unused for a while. It is then removed from OPEN. */
    private boolean isLeft(long now) {
        if (users > 0) {
            return false;
        }
        synchronized (OPEN) {
            return users == 0 && (unfit || now - leftAt >= LINGER_NANOS) && OPEN.remove(place, this);
        }
    }

    Context context() {
        return context;
    }

    CompletionChannel channel() {
        return channel;
    }

    /** How often spinning threads have moved the traffic of all connections over this device. */
    long moves() {
        return moves;
    }

    /** Moves the traffic of a software device; a real device needs no thread to do so. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // a lost increment makes one more thread move the traffic
    void moves(CompletionQueue looks, Completions none) {
        if (!isSoftware) {
            return;
        }
        moves++;
        if (looks.poll(none) > 0) {
            throw new IllegalStateException("something completed in a queue that nothing was given to");
        }
    }

    /** The device's name and local address, for messages. */
    String describe() {
        return context.device().name() + " at " + place.address().getHostAddress();
    }

    /**
     * The failure of a connection whose peer's device does not answer.
     *
     * @param why what was observed
     */
    SilentDeviceException silence(Gid peer, String why) {
        doubt();
        Optional<Unreachable> known = context.unreachable(peer);
        if (known.isPresent() && known.get().full()) {
            return SilentDeviceException.full(describe(), known.get().reason());
        }
        String observed = known.map(failure -> why + "; " + failure.reason()).orElse(why);
        return SilentDeviceException.silent(describe(), observed, adviceIfUnreachable());
    }

    /** What to check if the device sends and receives no answer. */
    private String adviceIfUnreachable() {
        return isSoftware
                ? "do both sides use TLS, or neither, and does each trust the other's certificate (RdmaSettings.softwareDevices)? The log says what failed. If the other host has an RDMA device, both need a soft:// address"
                : "is the port of both devices up (./rackcall doctor), and does each reach the other's address? If the other host has no RDMA device, both need a soft:// address";
    }

    Gid gid() {
        return context.gid(PORT, gidIndex);
    }

    int gidIndex() {
        return gidIndex;
    }

    /** Notifies the carrier of this queue's completions from now on. */
    void add(CompletionQueue queue, PairCarrier carrier) {
        carriers.put(queue, carrier);
    }

    void remove(CompletionQueue queue) {
        carriers.remove(queue);
    }

    /** The open connections over this device. */
    Collection<PairCarrier> carriers() {
        return carriers.values();
    }

    /**
     * How many devices are open in this process. A device in which an object was left, such as a registered region,
     * cannot be closed and stays counted.
     */
    static int open() {
        return UNCLOSED.get();
    }

    /** The thread closes the channel itself, because no other thread may close it during the wait. */
    private void deliver() {
        listen();
        synchronized (listening) {
            hasListened = true;
            Thread.interrupted();
        }
        try {
            channel.close();
            context.close();
            UNCLOSED.decrementAndGet();
        } catch (VerbsException e) {
            LOG.warn("{} cannot be closed: {}", context.device().name(), e.getMessage());
        }
    }

    private void listen() {
        long reminded = System.nanoTime();
        while (!closing) {
            try {
                long now = System.nanoTime();
                if (isLeft(now)) {
                    return;
                }
                if (now - reminded > REMIND_NANOS) {
                    reminded = now;
                    carriers.values().forEach(PairCarrier::announced);
                }
                Optional<CompletionQueue> queue = channel.await(LOOK);
                PairCarrier carrier = queue.map(carriers::get).orElse(null);
                if (carrier != null) {
                    carrier.announced();
                }
            } catch (RuntimeException | Error e) {
                if (!closing) {
                    LOG.error(
                            "an arrival over {} was not delivered; its connections go on",
                            context.device().name(),
                            e);
                }
            }
        }
    }

    /** Returns after a bounded wait; a thread that gets no processor closes the device later. */
    private void close() {
        closing = true;
        synchronized (listening) {
            if (!hasListened) {
                // Ends the wait early if possible: a real device's wait cannot be interrupted.
                thread.interrupt();
            }
        }
        try {
            thread.join(10 * LOOK.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
