package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.spi.LimitedLog;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/**
 * Logs failures on a poller, which must continue because many clients depend on it, and records JFR events of its sleeps
 * and of lost clients. Lines are limited, since a peer may cause them repeatedly. Events cost one load before a sleep or
 * at a connection's end, and allocate nothing unless recorded.
 */
final class PollerLog {
    private static final LimitedLog LOG = LimitedLog.of(PollerLog.class);
    /** Pause after a failed turn, so that a permanent failure does not occupy a processor. */
    private static final long FAILED_TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private PollerLog() {}

    /** Initialised only in a process that records events. */
    private static final class Types {
        private static final EventType WAIT = EventType.getEventType(WaitEvent.class);
        private static final EventType LOST = EventType.getEventType(LostEvent.class);
    }

    /** Begins the event of a poller that goes to sleep; null unless such events are recorded. */
    static WaitEvent waitBegins() {
        if (!FlightRecorder.isInitialized() || !Types.WAIT.isEnabled()) {
            return null;
        }
        WaitEvent event = new WaitEvent();
        event.begin();
        return event;
    }

    /**
     * Ends the event.
     *
     * @param connections number of the poller's connections
     * @param rings sockets that woke it
     */
    static void waited(WaitEvent event, int connections, int rings) {
        if (event != null && event.shouldCommit()) {
            event.connections = connections;
            event.rings = rings;
            event.commit();
        }
    }

    /** A client has hung up. */
    static void hungUp(Peer peer, String channel, Route.Kind transport) {
        lost(peer, channel, transport, "it has closed the channel, or is gone");
    }

    private static void lost(Peer peer, String channel, Route.Kind transport, String why) {
        if (FlightRecorder.isInitialized() && Types.LOST.isEnabled()) {
            LostEvent event = new LostEvent();
            event.channel = channel;
            event.client = peer.toString();
            event.transport = transport.name();
            event.reason = why;
            event.commit();
        }
    }

    /** Runs an action for one connection: its failure must not affect the others. */
    static void guarded(String what, Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error e) {
            LOG.error("{} failed; the poller goes on", what, e);
        }
    }

    /** Logs a failed turn. The poller continues, since all its connections depend on it. */
    static void failedTurn(Throwable thrown) {
        LOG.error("polling failed; the server goes on", thrown);
        LockSupport.parkNanos(FAILED_TURN_NANOS);
    }

    static void brokeProtocol(Peer peer, String channel, Route.Kind transport, ProtocolBreachException how) {
        LOG.warn("{} of channel {} broke the protocol ({}); its connection is closed", peer, channel, how.getMessage());
        lost(peer, channel, transport, "it broke the protocol: " + how.getMessage());
    }

    /** Not all of a call's resources could be released. */
    static void failedEnding(Peer peer, String channel, Throwable thrown) {
        LOG.error("a call of {} of channel {} did not give back all it had", peer, channel, thrown);
    }

    static void failedServing(Peer peer, String channel, Route.Kind transport, Throwable thrown) {
        LOG.error("serving {} of channel {} failed; its connection is closed", peer, channel, thrown);
        lost(peer, channel, transport, "serving it failed: " + thrown);
    }

    @Name("dev.rackcall.PollerWait")
    @Label("Poller Wait")
    @Description("A server's polling thread slept until a request woke it, or for its longest sleep")
    @Category("Rackcall")
    @StackTrace(false)
    @Threshold("1 ms")
    static final class WaitEvent extends Event {
        @Label("Connections")
        @Description("Connections that the thread has")
        int connections;

        @Label("Rings")
        @Description(
                "Sockets that woke the thread; 0 if it slept to its bound, or another thread of the server woke it")
        int rings;
    }

    @Name("dev.rackcall.ClientLost")
    @Label("Client Lost")
    @Description("A server has lost a client: it closed its channel, died or broke the protocol, or serving it failed")
    @Category("Rackcall")
    @StackTrace(false)
    static final class LostEvent extends Event {
        @Label("Channel")
        String channel;

        @Label("Client")
        @Description("Its process and user; pid 0 (uid -1) over a network")
        String client;

        @Label("Transport")
        String transport;

        @Label("Reason")
        String reason;
    }
}
