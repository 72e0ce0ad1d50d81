package dev.rackcall.cp.control;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.HostId;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.ReadyToReceive;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.time.Duration;

/**
 * An RC queue pair to one host, connected by a control message to the host's {@link ConnectedCallers}. Any thread may
 * use it.
 */
public final class RcConnection implements AutoCloseable {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final int PACKET_MASK = 0xFFFFFF;

    private final HostDevice end;
    private final ControlPort port;
    private final HostLife self;
    private final HostLife peer;
    private final ControlAddress control;
    private final QueuePair queuePair;
    /** Guarded by the monitor, like all state changes of the queue pair. */
    private boolean closed;

    private boolean used;

    /**
     * @param self the life of this host, which is sent to the peer
     * @param control where the peer receives control messages
     * @param spec of the queue pair; its completion queue stays the caller's
     */
    public RcConnection(
            HostDevice end,
            ControlPort port,
            HostLife self,
            HostLife peer,
            ControlAddress control,
            QueuePairSpec spec) {
        this.end = end;
        this.port = port;
        this.self = self;
        this.peer = peer;
        this.control = control;
        queuePair = end.domain().createQueuePair(spec);
    }

    public HostId host() {
        return peer.host();
    }

    public QueuePair queuePair() {
        return queuePair;
    }

    /**
     * Connects the queue pair, or reconnects it after a failure, and waits for the peer's reply.
     *
     * @return false if it was closed in the meantime
     * @throws ControlPlaneException if the peer does not reply, or refuses
     */
    public boolean connect() {
        if (!prepare()) {
            return false;
        }
        int packet = RANDOM.nextInt() & PACKET_MASK;
        ByteBuffer reply = port.ask(control, ControlMessage.CONNECT, question(packet), PATIENCE);
        return finish(reply.getInt(), reply.getInt(), packet);
    }

    /** As {@link #connect}, but fails if it was closed in the meantime. */
    public void requireConnected() {
        if (!connect()) {
            throw new ControlPlaneException(
                    ControlPlaneException.Kind.UNREACHABLE, "the connection to " + peer + " was closed meanwhile");
        }
    }

    private synchronized boolean prepare() {
        if (closed) {
            return false;
        }
        if (used) {
            queuePair.toReset();
        }
        used = true;
        queuePair.toInit(InitAttributes.connected());
        return true;
    }

    private byte[] question(int packet) {
        ByteBuffer body = ByteBuffer.allocate(ConnectedCallers.QUESTION_BYTES).order(ByteOrder.nativeOrder());
        body.putLong(peer.host().value()).putInt(peer.epoch());
        body.putLong(self.host().value()).putInt(self.epoch());
        putName(body);
        return body.putInt(packet).putLong(RANDOM.nextLong()).array();
    }

    private void putName(ByteBuffer body) {
        body.putLong(end.gid().high()).putLong(end.gid().low()).putInt(queuePair.number());
    }

    private synchronized boolean finish(int number, int theirPacket, int packet) {
        if (closed) {
            return false;
        }
        queuePair.toReadyToReceive(
                ReadyToReceive.from(end.pathTo(control.gid()), number).withFirstPacket(theirPacket));
        queuePair.toReadyToSend(end.patience().withFirstPacket(packet));
        return true;
    }

    /** Destroys the queue pair and notifies the peer. No request may be in flight. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            queuePair.close();
        }
        announceEnd();
    }

    /** Notifies the peer that the connection ends now, without waiting for a reply. */
    public void announceEnd() {
        ByteBuffer body = ByteBuffer.allocate(ConnectedCallers.NAME_BYTES).order(ByteOrder.nativeOrder());
        putName(body);
        port.tell(control, ControlMessage.DISCONNECT, body.array());
    }
}
