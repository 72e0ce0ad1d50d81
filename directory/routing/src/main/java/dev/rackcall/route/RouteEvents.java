package dev.rackcall.route;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** JFR events of channels that follow a directory. Thread-safe. */
final class RouteEvents {
    private RouteEvents() {}

    /** Initialised only in a process that records events. */
    private static final class Types {
        private static final EventType CHANGE = EventType.getEventType(RouteChangeEvent.class);
    }

    /** Records that calls of the channel to this server now use this route. */
    static void changed(String channel, EndpointRoute route) {
        if (FlightRecorder.isInitialized() && Types.CHANGE.isEnabled()) {
            RouteChangeEvent event = new RouteChangeEvent();
            event.channel = channel;
            event.host = route.host();
            event.transport = route.kind().name();
            event.commit();
        }
    }

    @Name("dev.rackcall.RouteChange")
    @Label("Route Change")
    @Description("A channel has started to use a route to a server")
    @Category("Rackcall")
    @StackTrace(false)
    static final class RouteChangeEvent extends Event {
        @Label("Channel")
        String channel;

        @Label("Host")
        @Description("The server's host, as the directory names it")
        String host;

        @Label("Transport")
        String transport;
    }
}
