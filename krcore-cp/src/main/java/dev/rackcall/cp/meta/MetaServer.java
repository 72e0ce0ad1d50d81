package dev.rackcall.cp.meta;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.control.ConnectedCallers;
import dev.rackcall.cp.control.ControlMessage;
import dev.rackcall.cp.control.ControlPort;
import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.cp.control.HostLife;
import dev.rackcall.cp.table.HostRecord;
import dev.rackcall.cp.table.RecordTable;
import dev.rackcall.cp.table.TableLocation;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.QueuePair;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Holds the records of all hosts in memory that hosts READ, so a lookup costs this process nothing. Where a device has
 * no dynamically connected queue pairs, each of the first 1,024 hosts has an RC queue pair for lookups; others use
 * control messages. Hosts register and renew by control messages, and are forgotten when they stop renewing for a
 * lease. Nothing is kept on disk: after a restart, which changes the epoch, hosts register by their next renewal.
 * Closing it closes its device.
 */
public final class MetaServer implements AutoCloseable {
    /** The host name that clients connect a queue pair to. */
    static final HostId NAME = HostId.named("the meta server");

    static final int HELLO_BYTES = 28;

    private static final SecureRandom RANDOM = new SecureRandom();

    private record Lease(int epoch, long renewed) {}

    private final HostDevice end;
    private final RecordTable table;
    private final Optional<QueuePair> target;
    private final ConnectedCallers callers;
    private final int targetKey = RANDOM.nextInt();
    private final ControlPort port;
    private final long leaseNanos;
    private final LongSupplier clock;
    private final Map<Long, Lease> leases = new HashMap<>();

    private MetaServer(Device device, int capacity, Duration lease, LongSupplier clock) {
        this.clock = clock;
        leaseNanos = lease.toNanos();
        end = new HostDevice(device);
        try {
            table = end.keep(new RecordTable(
                    end.domain(), "the meta table", HostRecord.RECORD_BYTES, capacity, RecordTable.drawEpoch(RANDOM)));
            target = end.isDynamic()
                    ? Optional.of(end.target(targetKey, EnumSet.of(Access.REMOTE_READ)))
                    : Optional.empty();
            callers = new ConnectedCallers(
                    end,
                    new HostLife(NAME, table.location().epoch()),
                    EnumSet.of(Access.REMOTE_READ),
                    spec -> spec,
                    this::knows);
            port = new ControlPort(end, "meta", this::answer, this::expire);
        } catch (RuntimeException e) {
            end.close();
            throw e;
        }
    }

    /** A meta server for this many hosts, with leases of 5 s. */
    public static MetaServer open(Device device, int capacity) {
        return open(device, capacity, Duration.ofSeconds(5));
    }

    /**
     * A meta server for this many hosts.
     *
     * @param lease how long a host that stops renewing stays in the table; agents renew each second by default
     */
    public static MetaServer open(Device device, int capacity, Duration lease) {
        return open(device, capacity, lease, System::nanoTime);
    }

    /** @param clock nanoseconds from any origin, which may wrap around; no other clock matters */
    static MetaServer open(Device device, int capacity, Duration lease, LongSupplier clock) {
        if (lease.isNegative() || lease.isZero()) {
            throw new IllegalArgumentException("a lease of " + lease + " ends before it begins");
        }
        MetaServer server = new MetaServer(device, capacity, lease, clock);
        server.port.start();
        return server;
    }

    /** Its address, which changes with each start. */
    public ControlAddress address() {
        return port.address();
    }

    /** Hosts in the table. */
    public int hosts() {
        return table.count();
    }

    /** Size of the table in bytes, which is constant. */
    public long tableBytes() {
        return table.byteSize();
    }

    private byte[] answer(int operation, Gid sender, ByteBuffer body) {
        return switch (operation) {
            case ControlMessage.HELLO -> hello();
            case ControlMessage.REGISTER -> register(body, false);
            case ControlMessage.RENEW -> register(body, true);
            case ControlMessage.REMOVE -> remove(body);
            case ControlMessage.CONNECT -> callers.connect(sender, body);
            case ControlMessage.DISCONNECT -> callers.disconnect(body);
            case ControlMessage.FIND -> table.get(body.getLong()).orElse(new byte[0]);
            default -> throw new ControlPlaneException(Kind.REFUSED, "a meta server has no operation " + operation);
        };
    }

    private byte[] hello() {
        TableLocation location = table.location();
        return ByteBuffer.allocate(HELLO_BYTES)
                .order(ByteOrder.nativeOrder())
                .putInt(target.map(QueuePair::number).orElse(HostRecord.NO_TARGET))
                .putInt(targetKey)
                .putLong(location.address())
                .putInt(location.key())
                .putInt(location.log2Buckets())
                .putInt(location.epoch())
                .array();
    }

    private byte[] register(ByteBuffer body, boolean renews) {
        HostId host = new HostId(body.getLong());
        HostRecord record = HostRecord.read(body);
        Lease known = leases.get(host.value());
        if (renews && known != null && known.epoch() != record.epoch()) {
            throw new ControlPlaneException(
                    Kind.REFUSED,
                    host + " has been registered by another agent since; each host needs a name of its own");
        }
        if (known == null || known.epoch() != record.epoch()) {
            table.put(host.value(), record.toBytes());
        }
        if (known != null && known.epoch() != record.epoch()) {
            callers.close(new HostLife(host, known.epoch()));
        }
        leases.put(host.value(), new Lease(record.epoch(), clock.getAsLong()));
        return new byte[0];
    }

    private boolean knows(HostLife life) {
        Lease lease = leases.get(life.host().value());
        return lease != null && lease.epoch() == life.epoch();
    }

    private boolean forget(long host, int epoch) {
        callers.close(new HostLife(new HostId(host), epoch));
        return table.remove(host);
    }

    private byte[] remove(ByteBuffer body) {
        long host = body.getLong();
        int epoch = body.getInt();
        Lease known = leases.get(host);
        if (known != null && known.epoch() == epoch) {
            leases.remove(host);
            forget(host, epoch);
        }
        return new byte[0];
    }

    private void expire() {
        long now = clock.getAsLong();
        leases.entrySet().removeIf(entry -> {
            boolean over = now - entry.getValue().renewed() > leaseNanos;
            return over && forget(entry.getKey(), entry.getValue().epoch());
        });
    }

    /** Closes it at once; its table can no longer be read. */
    @Override
    public void close() {
        end.close();
    }
}
