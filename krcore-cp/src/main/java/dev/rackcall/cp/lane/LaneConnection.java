package dev.rackcall.cp.lane;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.control.ControlPort;
import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.cp.control.HostLife;
import dev.rackcall.cp.control.RcConnection;
import dev.rackcall.cp.request.CheckedRequest;
import dev.rackcall.cp.request.PeerHost;
import dev.rackcall.cp.table.HostRecord;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.WorkRequest;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A lane's RC queue pair to one peer. It is connected in the background; its lane accepts requests from the start. */
final class LaneConnection implements LaneQueuePair, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LaneConnection.class);

    private final CompletionQueue queue;
    private final LaneCompletions completions;
    private final RcConnection connection;
    private volatile Optional<PeerHost> peer = Optional.empty();
    private boolean closed;

    LaneConnection(HostDevice end, ControlPort port, HostLife self, HostId host, HostRecord record, int depth) {
        queue = end.context()
                .createCompletionQueue(CompletionQueueSpec.of(4 * depth).polledBusily());
        completions = new LaneCompletions(queue);
        try {
            connection = new RcConnection(
                    end,
                    port,
                    self,
                    new HostLife(host, record.epoch()),
                    record.controlAddress(),
                    QueuePairSpec.of(QueuePairType.RC, queue)
                            .withDepth(depth, 1)
                            .withSegments(CheckedRequest.MAX_SEGMENTS)
                            .withInline(CheckedRequest.MAX_INLINE));
        } catch (RuntimeException e) {
            queue.close();
            throw e;
        }
    }

    LaneCompletions completions() {
        return completions;
    }

    /** Connects for the first time, in the background. */
    void begin(PeerHost to, Lane lane) {
        peer = Optional.of(to);
        restart(lane);
    }

    /**
     * Connects for the first time, and waits for it.
     *
     * @throws ControlPlaneException if the peer does not reply, or refuses
     */
    void connect(PeerHost to) {
        peer = Optional.of(to);
        connection.requireConnected();
    }

    @Override
    public QueuePair queuePair() {
        return connection.queuePair();
    }

    @Override
    public void address(WorkRequest request, PeerHost to) {
        // The queue pair is connected to its only peer.
    }

    @Override
    public void restart(Lane lane) {
        Thread.ofVirtual().name("rackcall-connect-" + connection.host()).start(() -> connect(lane));
    }

    private void connect(Lane lane) {
        try {
            if (connection.connect()) {
                lane.resume();
            }
        } catch (RuntimeException e) {
            // Whatever failed, the lane's pending requests must end.
            LOG.debug("no connection to {}: {}", connection.host(), e.getMessage());
            lane.fail(peer.orElseThrow());
        }
    }

    /** Destroys the queue pair and notifies the peer. No request may be in flight. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        completions.close();
        connection.close();
        queue.close();
    }

    /** Notifies the peer that the connection ends now. */
    void announceEnd() {
        connection.announceEnd();
    }
}
