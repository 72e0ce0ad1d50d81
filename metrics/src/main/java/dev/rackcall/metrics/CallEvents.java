package dev.rackcall.metrics;

import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
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

/**
 * Records slow calls for the JDK's Flight Recorder, as events {@code dev.rackcall.ClientCall} and {@code
 * dev.rackcall.ServerCall}. The setting {@code threshold}, 10 ms by default, is the shortest duration that is recorded.
 * Needs no Micrometer.
 */
public final class CallEvents implements CallMeter {
    /** Records the calls of every channel and server to which it is added. */
    public CallEvents() {}

    @Override
    public boolean isEnabled() {
        return FlightRecorder.isInitialized() && (Types.CLIENT.isEnabled() || Types.SERVER.isEnabled());
    }

    @Override
    public OfMethod atClient(MethodDescriptor method) {
        return transport ->
                Types.CLIENT.isEnabled() ? new Recording(new ClientCallEvent(), method, transport) : CallObserver.NONE;
    }

    @Override
    public OfMethod atServer(MethodDescriptor method) {
        return transport ->
                Types.SERVER.isEnabled() ? new Recording(new ServerCallEvent(), method, transport) : CallObserver.NONE;
    }

    /** Initialised only in a process that records events. */
    private static final class Types {
        private static final EventType CLIENT = EventType.getEventType(ClientCallEvent.class);
        private static final EventType SERVER = EventType.getEventType(ServerCallEvent.class);
    }

    /** One call that is recorded. */
    private static final class Recording implements CallObserver {
        private final CallEvent event;
        private final MethodDescriptor method;
        /** Null before the first attempt, which happens before the end. */
        private Route.Kind transport;

        Recording(CallEvent event, MethodDescriptor method, Route.Kind transport) {
            this.event = event;
            this.method = method;
            this.transport = transport;
            event.begin();
        }

        @Override
        public void onBegin(Route.Kind kind) {
            transport = kind;
        }

        @Override
        public void onEnd(Status status, Metadata trailers) {
            event.end();
            if (event.shouldCommit()) {
                event.method = method.fullName();
                event.status = status.code().name();
                event.transport = transport == null ? "" : transport.name();
                event.commit();
            }
        }
    }

    @Category({"Rackcall", "Calls"})
    @StackTrace(false)
    @Threshold("10 ms")
    abstract static class CallEvent extends Event {
        @Label("Method")
        String method;

        @Label("Status")
        String status;

        @Label("Transport")
        String transport;
    }

    @Name("dev.rackcall.ClientCall")
    @Label("Client Call")
    @Description("A call, from its beginning until its client knew how it had ended")
    static final class ClientCallEvent extends CallEvent {}

    @Name("dev.rackcall.ServerCall")
    @Label("Server Call")
    @Description("A call, from the beginning of its handler until it ended at the server")
    static final class ServerCallEvent extends CallEvent {}
}
