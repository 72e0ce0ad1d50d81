package dev.rackcall.rdma;

import dev.rackcall.rdma.sending.Sending;
import dev.rackcall.rdma.sending.SendingCarrier;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.VerbsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One end of a reliable connection: whole pieces by WRITE, words by WRITE with immediate, numbers by SEND, all on one queue pair and thereby in order. {@link Posting}
 * sends them, {@link Delivery} takes what arrives; each has a lock, and no thread holds both. The TCP connection over which the two ends have
 * met stays open: its end proves that the peer's process is gone.
 */
final class RdmaCarrier extends SendingCarrier {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaCarrier.class);

    private final RdmaDevice device;
    private final Socket socket;
    private final RdmaEnd end;
    private final Posting posting;
    private final Delivery delivery;
    private long clockAhead;

    private RdmaCarrier(RdmaDevice device, Socket socket, RdmaEnd end) {
        this.device = device;
        this.socket = socket;
        this.end = end;
        this.posting = new Posting(this, end);
        this.delivery = new Delivery(this, end);
    }

    /**
     * An end that is not connected yet. It owns the socket and one use of the device only when it was made.
     *
     * @param publications as in {@link dev.rackcall.rpc.spi.CarrierProvider#connect}
     * @throws VerbsException if the device refuses
     */
    static RdmaCarrier open(RdmaDevice device, Socket socket, MemorySegment memory, int publications) {
        RdmaEnd end = new RdmaEnd(device, memory, publications);
        try {
            return new RdmaCarrier(device, socket, end);
        } catch (RuntimeException | Error e) {
            end.close();
            throw e;
        }
    }

    /** For those who want to see it fail. */
    QueuePair queuePair() {
        return end.queuePair;
    }

    /** As {@link #queuePair}: over which the ends have met. */
    Socket socket() {
        return socket;
    }

    /** As {@link #queuePair}: this end's, at the same offsets as the peer's. */
    MemorySegment memory() {
        return end.memory;
    }

    PeerGreeting greeting(ByteBuffer packet) {
        return end.greeting(packet);
    }

    /**
     * Connects to the peer that has sent this.
     *
     * @param ahead its clock less this one's
     */
    void connect(PeerGreeting peer, long ahead) throws ForeignPeerException {
        clockAhead = ahead;
        end.connect(peer);
        posting.connect(peer);
    }

    /**
     * Waits until the peer's device has acknowledged something, which the meeting over TCP does not show. Before {@link #start}.
     *
     * @throws SilentDeviceException if it does not within that time, or the connection has ended
     */
    void tryWay(long nanos) throws SilentDeviceException {
        if (!posting.isAcknowledged(nanos)) {
            String why = hasEnded()
                    ? whyEnded()
                    : "nothing came back within " + TimeUnit.NANOSECONDS.toMillis(nanos) + " ms";
            throw new SilentDeviceException(device.describe(), why, device.adviceIfUnreachable());
        }
    }

    @Override
    protected Sending sending() {
        return posting;
    }

    @Override
    protected String peer() {
        return String.valueOf(socket.getRemoteSocketAddress());
    }

    @Override
    public long clockAhead() {
        return clockAhead;
    }

    // ---- delivering

    @Override
    public void start(Arrivals listener) {
        device.add(end.receives, this);
        delivery.start(listener);
    }

    @Override
    public void look() {
        delivery.look();
    }

    @Override
    public int pausesPerLook() {
        return device.pausesPerLook();
    }

    @Override
    public void listen() {
        delivery.listen();
    }

    /** The device has announced something, or has not for long: a completion that was lost cannot keep anybody asleep. The device's thread. */
    void announced() {
        delivery.announced();
    }

    // ---- the end

    /** Waits for the end of the peer's TCP connection, on a thread of its own. */
    void watch() {
        Thread.ofVirtual().name("rackcall-rdma-watch").start(() -> {
            try {
                socket.setSoTimeout(0);
                int said = socket.getInputStream().read();
                end(said < 0 ? "it has hung up" : "it has said " + said + " where nothing is said");
            } catch (IOException e) {
                end("its connection broke: " + e.getMessage());
            }
            // What it said before it went comes first.
            delivery.announced();
        });
    }

    @Override
    public void tellEnd() {
        delivery.tellEnd();
    }

    @Override
    protected void closeParts() {
        end.registerNoMore();
        delivery.close(() -> {
            device.remove(end.receives);
            end.close();
        });
        try {
            socket.close();
        } catch (IOException e) {
            LOG.debug("closing {}: {}", socket, e.toString());
        }
        device.release();
    }
}
