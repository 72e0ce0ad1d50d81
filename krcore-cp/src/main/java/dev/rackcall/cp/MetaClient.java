package dev.rackcall.cp;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.TableReader.StaleTableException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** A host's side of the meta server. Any thread may use it. */
final class MetaClient {
    static final int HELLO_BYTES = 28;
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /** What a meta server has said about itself. */
    private record Known(ControlAddress address, Target target, TableLocation table) {}

    private final DeviceEnd end;
    private final ControlPort port;
    private final Optional<TableReader> reader;
    private final Supplier<ControlAddress> address;
    private volatile Optional<Known> known = Optional.empty();

    /** @param address where it is now, asked again whenever it does not answer */
    MetaClient(DeviceEnd end, ControlPort port, Optional<TableReader> reader, Supplier<ControlAddress> address) {
        this.end = end;
        this.port = port;
        this.reader = reader;
        this.address = address;
    }

    /**
     * Looks a host up by one READ, or by a control message if either device has no dynamically connected queue pairs.
     *
     * @return empty if the table has no such host
     * @throws ControlPlaneException UNREACHABLE if there is no meta server
     */
    Optional<HostRecord> find(HostId host) {
        if (reader.isEmpty()) {
            return ask(address.get(), host);
        }
        Optional<Known> current = known;
        if (current.isPresent()) {
            try {
                return find(current.get(), host);
            } catch (StaleTableException restarted) {
                drop(current.get());
            }
        }
        Known fresh = hello();
        try {
            return find(fresh, host);
        } catch (StaleTableException e) {
            drop(fresh);
            throw new ControlPlaneException(
                    Kind.UNREACHABLE,
                    "the table of meta server " + fresh.address() + " cannot be read: " + e.getMessage()
                            + "; try again, and look whether it restarts all the time");
        }
    }

    private Optional<HostRecord> find(Known server, HostId host) throws StaleTableException {
        if (server.target().number() == HostRecord.NO_TARGET) {
            // Which may have another address since.
            return ask(address.get(), host);
        }
        return reader.orElseThrow()
                .find(server.target(), server.table(), HostRecord.RECORD_BYTES, host.value(), HostRecord::read);
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
        long key = HostRecord.dcKey(answer.getInt());
        long at = answer.getLong();
        int tableKey = answer.getInt();
        int log2Buckets = answer.getInt();
        TableLocation table = new TableLocation(at, tableKey, log2Buckets, answer.getInt());
        Known fresh = new Known(server, new Target(end.keep(end.handleTo(server.gid())), number, key), table);
        known = Optional.of(fresh);
        return fresh;
    }

    /** Another thread may still read by way of its handle, which therefore lives as long as the device; meta servers restart seldom. */
    private synchronized void drop(Known server) {
        if (known.isPresent() && known.get() == server) {
            known = Optional.empty();
        }
    }

    /** Puts this life of a host into the table. */
    void register(HostId host, HostRecord record) {
        port.ask(address.get(), ControlMessage.REGISTER, registration(host, record), PATIENCE);
    }

    /** Keeps it there. */
    void renew(HostId host, HostRecord record) {
        port.ask(address.get(), ControlMessage.RENEW, registration(host, record), PATIENCE);
    }

    private static byte[] registration(HostId host, HostRecord record) {
        ByteBuffer body = ByteBuffer.allocate(Long.BYTES + HostRecord.BYTES).order(ByteOrder.nativeOrder());
        body.putLong(host.value());
        record.writeTo(body);
        return body.array();
    }

    /** Takes it out. */
    void remove(HostId host, int epoch, Duration atMost) {
        ByteBuffer body = ByteBuffer.allocate(Long.BYTES + Integer.BYTES).order(ByteOrder.nativeOrder());
        port.ask(
                address.get(),
                ControlMessage.REMOVE,
                body.putLong(host.value()).putInt(epoch).array(),
                atMost);
    }
}
