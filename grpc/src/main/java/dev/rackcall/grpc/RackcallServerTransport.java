package dev.rackcall.grpc;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import dev.rackcall.grpc.wire.Frame;
import dev.rackcall.grpc.wire.FrameBreachException;
import dev.rackcall.grpc.wire.OutboundStream;
import dev.rackcall.grpc.wire.PipeConnection;
import dev.rackcall.rpc.spi.LimitedLog;
import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.InternalChannelz.SocketOptions;
import io.grpc.InternalChannelz.SocketStats;
import io.grpc.InternalLogId;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.internal.ServerTransport;
import io.grpc.internal.ServerTransportListener;
import io.grpc.internal.StatsTraceContext;
import io.grpc.internal.TransportTracer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** A client's connection, as gRPC's server sees it. */
final class RackcallServerTransport implements ServerTransport, PipeConnection.Receiver {
    private static final LimitedLog LOG = LimitedLog.of(RackcallServerTransport.class);

    /** More open streams than an honest client has, and some 50 MB of the server's heap. */
    private static final int MOST_OPEN_STREAMS = 16_384;

    private static final byte[] TOO_MANY =
            ("the connection has " + MOST_OPEN_STREAMS + " open calls").getBytes(StandardCharsets.UTF_8);

    private static final String SHUT_DOWN = "the server was shut down";

    /** How long the last frames, such as GOAWAY, wait for a client that reads nothing. */
    private static final long LAST_FRAMES_SECONDS = 5;

    private final InternalLogId logId;
    private final RackcallServer server;
    private final PipeConnection connection;
    private final TransportTracer tracer = new TransportTracer();
    private final InboundBudget budget = new InboundBudget();
    private final Map<Integer, RackcallServerStream> streams = new ConcurrentHashMap<>();
    private ServerTransportListener listener;
    private Attributes attributes = Attributes.EMPTY;
    /** Null without limits. */
    private ConnectionLimits.Timers timers;

    /** Guards what follows. */
    private final Object lock = new Object();

    /** The highest number of an accepted stream. Written by the receiving thread. */
    private int lastAccepted;

    private boolean draining;
    /** Streams that have not ended. */
    private int open;
    /** Ends the connection even if its last frames find no room; null until then. */
    private Future<?> lastFrames;

    RackcallServerTransport(RackcallServer server, PipeConnection connection) {
        this.server = server;
        this.connection = connection;
        this.logId = InternalLogId.allocate(getClass(), connection.toString());
    }

    /** Connects this transport to gRPC's server. Called on the accepting thread, before any frame is received. */
    void begin(ServerTransportListener given) {
        listener = given;
        attributes = given.transportReady(
                RackcallAttributes.of(connection, server.getListenSocketAddress(), PeerAddress.ofPeer(connection))
                        .build());
    }

    /** Starts the idle and age timers, if configured. The accepting thread calls this last, because a timer may close the connection. */
    void startTimers() {
        if (!server.limits().equals(ConnectionLimits.NONE)) {
            timers = server.limits().start(this, server.scheduler());
        }
    }

    PipeConnection connection() {
        return connection;
    }

    InboundBudget budget() {
        return budget;
    }

    Attributes attributes() {
        return attributes;
    }

    // ---- frames of the client; the receiving thread

    @Override
    public void frame(int kind, int flags, int number, int extra, byte[] payload) {
        switch (kind) {
            case Frame.OPEN -> open(number, ByteBuffer.wrap(payload));
            case Frame.DATA -> {
                RackcallServerStream stream = known(kind, number);
                if (stream != null) {
                    stream.data(payload, (flags & Frame.END) != 0);
                }
            }
            case Frame.RESET -> {
                RackcallServerStream stream = known(kind, number);
                if (stream != null) {
                    stream.ended(Status.CANCELLED.withDescription("the client has cancelled the call"));
                }
            }
            default -> throw new FrameBreachException("a client that sends a frame of kind " + kind);
        }
    }

    /** The stream, or null if it has ended at the server; the client may not know that yet. */
    private RackcallServerStream known(int kind, int number) {
        if (number <= 0 || number > lastAccepted) {
            throw new FrameBreachException("a frame " + kind + " of stream " + number + " before it was opened");
        }
        return streams.get(number);
    }

    private void open(int number, ByteBuffer payload) {
        if (number <= lastAccepted) {
            throw new FrameBreachException("stream " + number + " is opened after stream " + lastAccepted);
        }
        String method = new String(MetadataFrames.field(payload), StandardCharsets.UTF_8);
        String authority = new String(MetadataFrames.field(payload), StandardCharsets.UTF_8);
        long size = MetadataFrames.size(payload);
        Metadata headers = MetadataFrames.decode(payload);
        boolean refused;
        boolean full;
        synchronized (lock) {
            refused = draining;
            lastAccepted = number;
            full = open == MOST_OPEN_STREAMS;
            if (!refused && !full) {
                open++;
            }
        }
        if (refused) {
            // After its GOAWAY, the client refuses the call itself.
            return;
        }
        if (full) {
            OutboundStream never = new NeverOpened();
            connection.sender().adopt(never, number);
            connection.sender().reset(never, Status.Code.UNAVAILABLE.value(), true, TOO_MANY);
            return;
        }
        if (timers != null) {
            timers.callBegins();
        }
        Status failure = null;
        StatsTraceContext stats = StatsTraceContext.NOOP;
        try {
            stats = StatsTraceContext.newServerContext(server.tracerFactories(), method, headers);
        } catch (RuntimeException | Error e) {
            // A failing tracer of the application must not end the connection.
            LOG.warn("{}: a call is refused, since its tracer failed", connection, e);
            failure = Status.INTERNAL.withDescription("the server failed to trace the call");
        }
        RackcallServerStream stream =
                new RackcallServerStream(this, number, authority, stats, tracer, server.maxInboundMessageSize());
        connection.callBegins();
        streams.put(number, stream);
        if (size > server.maxInboundMetadataSize()) {
            failure = Status.RESOURCE_EXHAUSTED.withDescription(String.format(
                    Locale.ROOT, "Request metadata larger than %d: %d", server.maxInboundMetadataSize(), size));
        }
        if (failure == null) {
            stream.begin(listener, method, headers);
            return;
        }
        stream.refuse(failure);
    }

    /** The sending half of a stream that is refused. */
    private static final class NeverOpened extends OutboundStream {
        @Override
        protected void opening(int given) {
            throw new IllegalStateException("servers open no streams");
        }

        @Override
        protected void queued(int bytes) {
            throw new IllegalStateException("a refused stream carries no messages");
        }

        @Override
        protected void left(int bytes) {
            throw new IllegalStateException("a refused stream carries no messages");
        }

        @Override
        protected void ended() {}
    }

    void ended(int number) {
        if (streams.remove(number) == null) {
            return;
        }
        connection.callEnds();
        if (timers != null) {
            timers.callEnds();
        }
        leave();
    }

    @Override
    public void credit(int number, long consumed) {
        RackcallServerStream stream = known(Frame.CREDIT, number);
        if (stream != null) {
            connection.sender().credited(stream.out(), consumed);
        }
    }

    @Override
    public boolean isHarmless(int number) {
        return false;
    }

    @Override
    public void closed(String reason) {
        synchronized (lock) {
            draining = true;
            if (lastFrames != null) {
                lastFrames.cancel(false);
            }
        }
        if (timers != null) {
            timers.stop();
        }
        Status status = Status.CANCELLED.withDescription("the client's connection has ended: " + reason);
        for (RackcallServerStream stream : liveStreams()) {
            stream.ended(status);
        }
        listener.transportTerminated();
        server.ended(this);
    }

    private List<RackcallServerStream> liveStreams() {
        return new ArrayList<>(streams.values());
    }

    // ---- the end

    @Override
    public void shutdown() {
        int last;
        synchronized (lock) {
            if (draining) {
                return;
            }
            draining = true;
            last = lastAccepted;
            // As a call would: the last call must not end the connection before the GOAWAY is on its way.
            open++;
        }
        connection.drains();
        connection.sender().control(Frame.GOAWAY, last, new byte[0]);
        leave();
    }

    /** A call has ended, or the GOAWAY is on its way. */
    private void leave() {
        boolean last;
        synchronized (lock) {
            last = --open == 0 && draining;
        }
        if (last) {
            endOnceSent();
        }
    }

    /** Without its GOAWAY, the client would have to take calls that it still sends as begun. */
    private void endOnceSent() {
        // Only the client makes room for frames that wait.
        Future<?> timer =
                server.scheduler().schedule(() -> connection.end(SHUT_DOWN), LAST_FRAMES_SECONDS, TimeUnit.SECONDS);
        synchronized (lock) {
            lastFrames = timer;
        }
        connection.endOnceSent(SHUT_DOWN);
    }

    @Override
    public void shutdownNow(Status reason) {
        shutdown();
        for (RackcallServerStream stream : liveStreams()) {
            stream.cancel(reason);
        }
        connection.end(SHUT_DOWN);
    }

    // ---- other methods of gRPC's interface

    @Override
    public ScheduledExecutorService getScheduledExecutorService() {
        return server.scheduler();
    }

    @Override
    public InternalLogId getLogId() {
        return logId;
    }

    @Override
    public ListenableFuture<SocketStats> getStats() {
        return Futures.immediateFuture(new SocketStats(
                tracer.getStats(),
                server.getListenSocketAddress(),
                attributes.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR),
                new SocketOptions.Builder().build(),
                null));
    }

    @Override
    public String toString() {
        return logId.toString();
    }
}
