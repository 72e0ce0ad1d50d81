package dev.rackcall.cp;

import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.WorkRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An RC queue pair to one peer, connected by a control message, by a thread of its own: requests may be posted to its lane from the start. */
final class ConnectedLink implements LaneLink, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectedLink.class);
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final int PACKET_MASK = 0xFFFFFF;

    private final ControlPort port;
    private final HostId selfName;
    private final HostRecord self;
    private final HostId peerName;
    private final HostRecord peerRecord;
    private final AddressVector path;
    private final CompletionQueue completions;
    private final LaneCompletions ended;
    private final QueuePair queuePair;
    private volatile Optional<Peer> peer = Optional.empty();
    /** Guarded by the monitor, as all changes of the queue pair. */
    private boolean closed;

    private boolean used;

    /** @param self what the peer is told of this host */
    ConnectedLink(
            DeviceEnd end,
            ControlPort port,
            HostId selfName,
            HostRecord self,
            HostId peerName,
            HostRecord peerRecord,
            int depth) {
        this.port = port;
        this.selfName = selfName;
        this.self = self;
        this.peerName = peerName;
        this.peerRecord = peerRecord;
        path = end.pathTo(peerRecord.gid());
        completions = end.context()
                .createCompletionQueue(CompletionQueueSpec.of(4 * depth).polledBusily());
        ended = new LaneCompletions(completions);
        try {
            queuePair = end.domain()
                    .createQueuePair(QueuePairSpec.of(QueuePairType.RC, completions)
                            .withDepth(depth, 1)
                            .withSegments(CheckedRequest.MAX_SEGMENTS)
                            .withInline(CheckedRequest.MAX_INLINE));
        } catch (RuntimeException e) {
            completions.close();
            throw e;
        }
    }

    /** For its lane. */
    LaneCompletions completions() {
        return ended;
    }

    /** Connects for the first time. */
    void begin(Peer to, Lane lane) {
        peer = Optional.of(to);
        restart(lane);
    }

    /**
     * Connects for the first time, and waits for it.
     *
     * @throws ControlPlaneException if the peer does not answer, or refuses
     */
    void connect(Peer to) {
        peer = Optional.of(to);
        connect();
    }

    /** The same for who has no lane, but posts to the queue pair itself. */
    void connect() {
        if (!isConnected()) {
            throw new ControlPlaneException(ControlPlaneException.Kind.UNREACHABLE, "it was closed meanwhile");
        }
    }

    @Override
    public QueuePair queuePair() {
        return queuePair;
    }

    @Override
    public void address(WorkRequest request, Peer to) {
        // A connected queue pair leads to one place.
    }

    @Override
    public void restart(Lane lane) {
        Thread.ofVirtual().name("rackcall-connect-" + peerName).start(() -> connect(lane));
    }

    private void connect(Lane lane) {
        try {
            if (isConnected()) {
                lane.resume();
            }
        } catch (RuntimeException e) {
            // Whatever it was, nobody else will end what is kept.
            LOG.debug("no connection to {}: {}", peerName, e.getMessage());
            lane.fail(peer.orElseThrow());
        }
    }

    /** Returns false if it was closed meanwhile. */
    private boolean isConnected() {
        if (!prepare()) {
            return false;
        }
        int packet = RANDOM.nextInt() & PACKET_MASK;
        ByteBuffer answer = port.ask(control(), ControlMessage.CONNECT, question(packet), PATIENCE);
        return finish(answer.getInt(), answer.getInt(), packet);
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
        body.putLong(peerName.value()).putInt(peerRecord.epoch());
        body.putLong(selfName.value()).putInt(self.epoch());
        body.putLong(self.gid().high()).putLong(self.gid().low());
        return body.putInt(queuePair.number())
                .putInt(packet)
                .putLong(RANDOM.nextLong())
                .array();
    }

    private synchronized boolean finish(int number, int theirPacket, int packet) {
        if (closed) {
            return false;
        }
        queuePair.toReadyToReceive(ReadyToReceive.from(path, number).withFirstPacket(theirPacket));
        queuePair.toReadyToSend(DeviceEnd.PATIENCE.withFirstPacket(packet));
        return true;
    }

    private ControlAddress control() {
        return new ControlAddress(peerRecord.gid(), peerRecord.control());
    }

    /** Destroys it, when nothing of it is under way, and says so to the peer. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            ended.close();
            queuePair.close();
            completions.close();
        }
        sayGoodbye();
    }

    /** Tells the peer that nothing more will come, without waiting for its answer. */
    void sayGoodbye() {
        byte[] body = ByteBuffer.allocate(ConnectedCallers.NAME_BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(self.gid().high())
                .putLong(self.gid().low())
                .putInt(queuePair.number())
                .array();
        port.tell(control(), ControlMessage.DISCONNECT, body);
    }
}
