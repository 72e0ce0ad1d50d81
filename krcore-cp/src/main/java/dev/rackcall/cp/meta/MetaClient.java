package dev.rackcall.cp.meta;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.control.ControlMessage;
import dev.rackcall.cp.control.ControlPort;
import dev.rackcall.cp.control.DcTarget;
import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.cp.control.HostLife;
import dev.rackcall.cp.control.RcConnection;
import dev.rackcall.cp.table.HostRecord;
import dev.rackcall.cp.table.TableLocation;
import dev.rackcall.cp.table.TableReader;
import dev.rackcall.cp.table.TableReader.StaleTableException;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.VerbsException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A host's client of the meta server. It READs the server's table over the device's initiator for lookups. If either
 * device has no dynamically connected queue pairs, it uses an RC queue pair that the first lookup connects. Any thread
 * may use it.
 */
public final class MetaClient implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MetaClient.class);
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final int DEPTH = 8;
    /** The pause after a refused connection, during which lookups use control messages. */
    private static final long RETRY_NANOS = Duration.ofSeconds(10).toNanos();

    /** Reads a meta server's table. */
    private interface Reading {
        Optional<HostRecord> find(HostId host) throws StaleTableException;
    }

    /**
     * What is known of a meta server.
     *
     * @param reading empty if the server accepts no connection from this host
     * @param connected whether it is read over a queue pair of its own
     * @param close closes that connection
     * @param since when it was found, by {@link System#nanoTime}
     */
    private record Known(
            ControlAddress address, Optional<Reading> reading, boolean connected, Runnable close, long since) {
        boolean isWorthAsking() {
            return reading.isPresent() || System.nanoTime() - since < RETRY_NANOS;
        }
    }

    private final HostDevice end;
    private final ControlPort port;
    private final Optional<TableReader> reader;
    private final HostLife self;
    private final Supplier<ControlAddress> address;
    private volatile Optional<Known> known = Optional.empty();
    /** A record from the table has turned out to be stale. */
    private volatile boolean doubted;
    /** Guarded by the monitor. */
    private boolean closed;

    /**
     * @param reader for hosts with DC targets, if the device has dynamically connected queue pairs
     * @param self this life of the host, as registered at the meta server
     * @param address supplies the current address whenever it is needed
     */
    public MetaClient(
            HostDevice end,
            ControlPort port,
            Optional<TableReader> reader,
            HostLife self,
            Supplier<ControlAddress> address) {
        this.end = end;
        this.port = port;
        this.reader = reader;
        this.self = self;
        this.address = address;
    }

    /**
     * Looks up a host by one READ, or by a control message if the meta server accepts no connection from this host.
     *
     * @return empty if the table has no such host
     * @throws ControlPlaneException UNREACHABLE if the meta server does not reply
     */
    public Optional<HostRecord> find(HostId host) {
        Optional<Known> current = known;
        if (current.isPresent() && current.get().isWorthAsking() && !isOfThePast(current.get())) {
            try {
                Optional<HostRecord> found = find(current.get(), host);
                if (found.isPresent() || !hasMoved(current.get())) {
                    return found;
                }
            } catch (StaleTableException restarted) {
                LOG.debug("the meta server has restarted: {}", restarted.getMessage());
            }
            drop(current.get());
        } else {
            current.ifPresent(this::drop);
        }
        Known fresh = hello();
        try {
            return find(fresh, host);
        } catch (StaleTableException e) {
            drop(fresh);
            throw new ControlPlaneException(
                    Kind.UNREACHABLE,
                    "the table of meta server " + fresh.address() + " cannot be read: " + e.getMessage()
                            + "; try again, and check whether it keeps restarting");
        }
    }

    /**
     * Marks the table as doubtful, since one of its records was stale. The memory of a stopped or replaced meta server
     * can still be read, so the next lookup first checks whether another one has taken its place.
     */
    public void doubt() {
        doubted = true;
    }

    private boolean isOfThePast(Known server) {
        if (!doubted) {
            return false;
        }
        // Cleared before the check, so that a later doubt makes the next lookup check again.
        doubted = false;
        return hasMoved(server);
    }

    /**
     * Whether the directory names another meta server. The former one may still respond, with a table that is empty by
     * now.
     */
    private boolean hasMoved(Known server) {
        try {
            return !address.get().equals(server.address());
        } catch (ControlPlaneException noneNamed) {
            LOG.debug("{} stays the meta server: {}", server.address(), noneNamed.getMessage());
            return false;
        }
    }

    private Optional<HostRecord> find(Known server, HostId host) throws StaleTableException {
        // The server may have moved, so its current address is used.
        return server.reading().isPresent() ? server.reading().get().find(host) : ask(address.get(), host);
    }

    /** Queue pairs that are connected to the meta server only. */
    public int queuePairs() {
        return known.filter(Known::connected).isPresent() ? 1 : 0;
    }

    private Optional<HostRecord> ask(ControlAddress server, HostId host) {
        byte[] name = ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(host.value())
                .array();
        ByteBuffer answer = port.ask(server, ControlMessage.FIND, name, PATIENCE);
        return answer.hasRemaining() ? Optional.of(HostRecord.read(answer)) : Optional.empty();
    }

    private synchronized Known hello() {
        Optional<Known> current = known;
        if (current.isPresent()) {
            return current.get();
        }
        ControlAddress server = address.get();
        ByteBuffer answer = port.ask(server, ControlMessage.HELLO, new byte[0], PATIENCE);
        int number = answer.getInt();
        int targetKey = answer.getInt();
        long at = answer.getLong();
        int tableKey = answer.getInt();
        int log2Buckets = answer.getInt();
        TableLocation table = new TableLocation(at, tableKey, log2Buckets, answer.getInt());
        Known fresh = open(server, new HostRecord(server.gid(), number, targetKey, server.number(), table));
        known = Optional.of(fresh);
        return fresh;
    }

    private Known open(ControlAddress server, HostRecord record) {
        long now = System.nanoTime();
        if (reader.isPresent() && record.hasTarget()) {
            // Another thread may still use this handle when it is dropped, so it lives as long as the device. Meta
            // servers rarely restart.
            DcTarget target = record.target(end.keep(end.handleTo(record.gid())));
            Reading reading = host -> reader.get()
                    .find(target, record.regions(), HostRecord.RECORD_BYTES, host.value(), HostRecord::read);
            return new Known(server, Optional.of(reading), false, () -> {}, now);
        }
        try {
            return connected(server, record, now);
        } catch (ControlPlaneException | VerbsException e) {
            LOG.debug("the meta server is asked by control messages: {}", e.getMessage());
            return new Known(server, Optional.empty(), false, () -> {}, now);
        }
    }

    private Known connected(ControlAddress server, HostRecord record, long now) {
        if (closed) {
            throw new ControlPlaneException(Kind.UNREACHABLE, "the agent is closed");
        }
        CompletionQueue completions = end.context()
                .createCompletionQueue(CompletionQueueSpec.of(4 * DEPTH).polledBusily());
        Deque<AutoCloseable> made = new ArrayDeque<>(List.of(completions));
        try {
            RcConnection connection = new RcConnection(
                    end,
                    port,
                    self,
                    new HostLife(MetaServer.NAME, record.epoch()),
                    server,
                    QueuePairSpec.of(QueuePairType.RC, completions).withDepth(DEPTH, 1));
            made.push(connection);
            connection.requireConnected();
            TableReader ofServer = TableReader.ofOne(end, completions, connection.queuePair());
            made.push(ofServer);
            Reading reading =
                    host -> ofServer.find(record.regions(), HostRecord.RECORD_BYTES, host.value(), HostRecord::read);
            return new Known(server, Optional.of(reading), true, () -> HostDevice.closeAll(made), now);
        } catch (RuntimeException e) {
            HostDevice.closeAll(made);
            throw e;
        }
    }

    private synchronized void drop(Known server) {
        if (known.isPresent() && known.get() == server) {
            known = Optional.empty();
            server.close().run();
        }
    }

    /** Closes the connection, before the device is closed. */
    @Override
    public synchronized void close() {
        closed = true;
        known.ifPresent(this::drop);
    }

    /** Puts this life of a host into the table. */
    public void register(HostId host, HostRecord record) {
        port.ask(address.get(), ControlMessage.REGISTER, registration(host, record), PATIENCE);
    }

    /** Renews the lease of this life of a host. */
    void renew(HostId host, HostRecord record) {
        port.ask(address.get(), ControlMessage.RENEW, registration(host, record), PATIENCE);
    }

    private static byte[] registration(HostId host, HostRecord record) {
        ByteBuffer body = ByteBuffer.allocate(Long.BYTES + HostRecord.BYTES).order(ByteOrder.nativeOrder());
        body.putLong(host.value());
        record.writeTo(body);
        return body.array();
    }

    /** Removes this life of a host from the table. */
    void remove(HostId host, int epoch, Duration atMost) {
        ByteBuffer body = ByteBuffer.allocate(Long.BYTES + Integer.BYTES).order(ByteOrder.nativeOrder());
        port.ask(
                address.get(),
                ControlMessage.REMOVE,
                body.putLong(host.value()).putInt(epoch).array(),
                atMost);
    }
}
