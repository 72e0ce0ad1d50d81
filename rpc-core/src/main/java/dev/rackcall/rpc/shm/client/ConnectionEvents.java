package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** JFR events of a client's connections. Costs one load at a wait, and allocates nothing unless recorded. Thread-safe. */
final class ConnectionEvents {
    private ConnectionEvents() {}

    /** Initialised only in a process that records events. */
    private static final class Types {
        private static final EventType WAIT = EventType.getEventType(WaitEvent.class);
        private static final EventType LOST = EventType.getEventType(LostEvent.class);
    }

    /** Begins the event of a thread that cannot go on by spinning; null unless such events are recorded. */
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
     * @param what the thread waited for
     * @param reason why it slept
     */
    static void waited(WaitEvent event, String channel, String what, String reason) {
        if (event != null && event.shouldCommit()) {
            event.channel = channel;
            event.what = what;
            event.reason = reason;
            event.commit();
        }
    }

    /** The server has ended or is gone. */
    static void lost(String channel, Route.Kind transport, Status why) {
        if (FlightRecorder.isInitialized() && Types.LOST.isEnabled()) {
            LostEvent event = new LostEvent();
            event.channel = channel;
            event.transport = transport.name();
            event.reason = why.description();
            event.commit();
        }
    }

    @Name("dev.rackcall.Wait")
    @Label("Wait")
    @Description("A thread slept until an answer came, or until a slot was free")
    @Category("Rackcall")
    @Threshold("1 ms")
    static final class WaitEvent extends Event {
        @Label("Channel")
        String channel;

        @Label("What")
        @Description("ANSWER or SLOT")
        String what;

        @Label("Reason")
        @Description("SPUN: it spun as long as that pays. SERVER_HERE: the server needed the processor."
                + " PREEMPTED: another thread had the processor. LIMITED: as many threads as processors spun already."
                + " BLOCKING: the channel's threads never spin. TAKEN: no slot was free")
        String reason;
    }

    @Name("dev.rackcall.ConnectionLost")
    @Label("Connection Lost")
    @Description("The server at the other end has ended, or is gone")
    @Category("Rackcall")
    @StackTrace(false)
    static final class LostEvent extends Event {
        @Label("Channel")
        String channel;

        @Label("Transport")
        String transport;

        @Label("Reason")
        String reason;
    }
}
