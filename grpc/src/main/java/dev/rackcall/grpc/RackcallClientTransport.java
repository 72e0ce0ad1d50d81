package dev.rackcall.grpc;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import dev.rackcall.grpc.wire.CarrierDial;
import dev.rackcall.grpc.wire.Frame;
import dev.rackcall.grpc.wire.FrameBreachException;
import dev.rackcall.grpc.wire.PipeConnection;
import dev.rackcall.grpc.wire.PipeDial;
import dev.rackcall.grpc.wire.PipeLoop;
import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.waiting.SpinTime;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.Grpc;
import io.grpc.InternalChannelz.SocketOptions;
import io.grpc.InternalChannelz.SocketStats;
import io.grpc.InternalLogId;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.internal.ClientStream;
import io.grpc.internal.ClientStreamListener.RpcProgress;
import io.grpc.internal.ConnectionClientTransport;
import io.grpc.internal.DisconnectError;
import io.grpc.internal.GoAwayDisconnectError;
import io.grpc.internal.GrpcAttributes;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.InUseStateAggregator;
import io.grpc.internal.SimpleDisconnectError;
import io.grpc.internal.StatsTraceContext;
import io.grpc.internal.TransportTracer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/** A connection to a server, as gRPC sees it. Connects on a thread of its own, since {@link #start} must not block. */
final class RackcallClientTransport implements ConnectionClientTransport, PipeConnection.Receiver {
    private static final int MOST_DESCRIPTION = 4096;

    /** Far enough from the last number that calls that begin at the same time get theirs. */
    private static final int MOST_STREAMS = 2_000_000_000;

    /** One thread receives for all channels of this process to servers of this host, and one for all others. */
    private static PipeLoop sharedLoop;

    private static PipeLoop sharedDeviceLoop;

    private record Ping(PingCallback callback, Executor executor, long since) {}

    private final InternalLogId logId;
    private final RackcallSocketAddress address;
    private final String authority;
    private final String userAgent;
    private final int maxInboundMessageSize;
    private final int maxInboundMetadataSize;
    private final TransportTracer tracer = new TransportTracer();
    private final Map<Integer, RackcallClientStream> byNumber = new ConcurrentHashMap<>();
    private final SpinTime spinTime;
    /** The highest number of a stream. Written under the connection's lock. */
    private volatile int lastNumber;

    private volatile Attributes attributes;
    private volatile PipeConnection connection;

    /** Guards everything below; no listener is called while it is held. */
    private final Object lock = new Object();

    private final Set<RackcallClientStream> streams = new HashSet<>();
    private final Map<Long, Ping> pings = new HashMap<>();
    private long lastPing;
    /** Why no more calls begin; null while they may. */
    private Status shutdown;

    private boolean terminated;

    private Listener listener;
    /** Guarded by itself; gRPC only queues its notifications. */
    private final InUseStateAggregator<RackcallClientStream> inUse = new InUseStateAggregator<>() {
        @Override
        protected void handleInUse() {
            listener.transportInUse(true);
        }

        @Override
        protected void handleNotInUse() {
            listener.transportInUse(false);
        }
    };

    RackcallClientTransport(
            RackcallSocketAddress address,
            String authority,
            String userAgent,
            Attributes groupAttributes,
            int maxInboundMessageSize,
            int maxInboundMetadataSize) {
        this.address = address;
        // Inside a host, too: the receiving thread has to be woken before it can wake a sleeping caller. And between
        // two
        // looks at the clock it handles frames, which takes long until that code is compiled.
        this.spinTime = SpinTime.ofDevice();
        this.authority = authority;
        this.userAgent = GrpcUtil.getGrpcUserAgent("rackcall", userAgent);
        this.maxInboundMessageSize = maxInboundMessageSize;
        this.maxInboundMetadataSize = maxInboundMetadataSize;
        this.logId = InternalLogId.allocate(getClass(), address.toString());
        this.attributes = Attributes.newBuilder()
                .set(GrpcAttributes.ATTR_CLIENT_EAG_ATTRS, groupAttributes)
                .build();
    }

    String authority() {
        return authority;
    }

    int maxInboundMessageSize() {
        return maxInboundMessageSize;
    }

    int maxInboundMetadataSize() {
        return maxInboundMetadataSize;
    }

    PipeConnection connection() {
        return connection;
    }

    // ---- the life of the connection

    @Override
    public Runnable start(Listener given) {
        listener = given;
        Thread connecting = new Thread(this::connect, "rackcall-grpc-connect");
        connecting.setDaemon(true);
        return connecting::start;
    }

    /** Tries again the next time if this process has no file descriptor left for it. */
    private static synchronized PipeLoop loop() {
        if (sharedLoop == null) {
            sharedLoop = PipeLoop.start("rackcall-grpc-client");
        }
        return sharedLoop;
    }

    private static synchronized PipeLoop deviceLoop() {
        if (sharedDeviceLoop == null) {
            sharedDeviceLoop = PipeLoop.startForDevices("rackcall-grpc-client-device");
        }
        return sharedDeviceLoop;
    }

    private PipeConnection dial() {
        if (address.remote().isPresent()) {
            return CarrierDial.connect(address.remote().get(), address.channel(), deviceLoop());
        }
        return PipeDial.connect(RuntimeDirectory.at(address.directory()), address.channel(), address.server(), loop());
    }

    private void connect() {
        PipeConnection made = null;
        try {
            made = dial();
            made.begin(this);
            boolean late;
            synchronized (lock) {
                late = shutdown != null;
                if (!late) {
                    connection = made;
                }
            }
            if (late) {
                made.discard();
                terminate();
                return;
            }
            attributes = listener.filterTransport(RackcallAttributes.of(made, PeerAddress.of(myself()), address)
                    .set(GrpcAttributes.ATTR_CLIENT_EAG_ATTRS, attributes.get(GrpcAttributes.ATTR_CLIENT_EAG_ATTRS))
                    .build());
            made.start();
        } catch (RpcException e) {
            notConnected(made, e, e.status().description(), SimpleDisconnectError.SOCKET_ERROR);
            return;
        } catch (RuntimeException | Error e) {
            notConnected(made, e, "connecting failed: " + e, SimpleDisconnectError.UNKNOWN);
            return;
        }
        listener.transportReady();
    }

    private void notConnected(PipeConnection made, Throwable failure, String description, DisconnectError why) {
        if (made != null) {
            made.discard();
        }
        shutDown(Status.UNAVAILABLE.withDescription(description).withCause(failure), why);
        terminate();
    }

    private static Peer myself() {
        return new Peer((int) ProcessHandle.current().pid(), Uid.current(), 0);
    }

    @Override
    public void shutdown(Status reason) {
        shutDown(reason, SimpleDisconnectError.SUBCHANNEL_SHUTDOWN);
        terminateIfUnused();
    }

    @Override
    public void shutdownNow(Status reason) {
        shutDown(reason, SimpleDisconnectError.SUBCHANNEL_SHUTDOWN);
        for (RackcallClientStream stream : liveStreams()) {
            stream.cancel(reason);
        }
        terminateIfUnused();
    }

    /** Begins no more calls, and says so once. */
    private void shutDown(Status reason, DisconnectError why) {
        PipeConnection current;
        synchronized (lock) {
            if (shutdown != null) {
                return;
            }
            shutdown = reason;
            current = connection;
        }
        if (current != null) {
            current.drains();
        }
        listener.transportShutdown(reason, why);
    }

    private void terminateIfUnused() {
        PipeConnection current;
        synchronized (lock) {
            if (shutdown == null || !streams.isEmpty()) {
                return;
            }
            current = connection;
        }
        if (current != null) {
            current.end("the channel was shut down");
        }
        // Otherwise the connecting thread terminates it.
    }

    private void terminate() {
        List<Ping> failed;
        Status reason;
        synchronized (lock) {
            if (terminated) {
                return;
            }
            terminated = true;
            failed = new ArrayList<>(pings.values());
            pings.clear();
            reason = shutdown;
        }
        failed.forEach(ping -> ping.executor.execute(() -> ping.callback.onFailure(reason)));
        listener.transportTerminated();
    }

    private List<RackcallClientStream> liveStreams() {
        synchronized (lock) {
            return new ArrayList<>(streams);
        }
    }

    // ---- calls

    @Override
    public ClientStream newStream(
            MethodDescriptor<?, ?> method, Metadata headers, CallOptions options, ClientStreamTracer[] tracers) {
        Status refused;
        synchronized (lock) {
            refused = shutdown != null
                    ? shutdown
                    : connection == null
                            ? Status.UNAVAILABLE.withDescription("the channel is not connected yet")
                            : null;
        }
        if (refused != null) {
            return new RefusedClientStream(refused, tracers);
        }
        headers.discardAll(GrpcUtil.USER_AGENT_KEY);
        headers.put(GrpcUtil.USER_AGENT_KEY, userAgent);
        StatsTraceContext stats = StatsTraceContext.newClientContext(tracers, attributes, headers);
        return new GuardedClientStream(new RackcallClientStream(this, method, headers, options, stats, tracer));
    }

    /** A call begins; its listener is set. */
    void started(RackcallClientStream stream) {
        Status refused;
        // Before another thread can end it.
        countInUse(stream, true);
        synchronized (lock) {
            refused = shutdown;
            if (refused == null) {
                streams.add(stream);
            }
        }
        if (refused != null) {
            countInUse(stream, false);
            stream.ended(refused, RpcProgress.MISCARRIED, true);
        } else if (lastNumber >= MOST_STREAMS) {
            // Calls that have begun go on. gRPC connects again for the next one.
            shutDown(
                    Status.UNAVAILABLE.withDescription("stream numbers are used up"),
                    SimpleDisconnectError.SUBCHANNEL_SHUTDOWN);
        }
    }

    private void countInUse(RackcallClientStream stream, boolean used) {
        if (stream.shouldBeCountedForInUse()) {
            synchronized (inUse) {
                inUse.updateObjectInUse(stream, used);
            }
        }
    }

    /** Called under the connection's lock, before the server can answer. */
    void opening(int number, RackcallClientStream stream) {
        byNumber.put(number, stream);
        lastNumber = number;
        connection.callBegins();
    }

    void ended(RackcallClientStream stream) {
        boolean last;
        synchronized (lock) {
            if (!streams.remove(stream)) {
                return;
            }
            last = streams.isEmpty();
        }
        if (stream.number() != 0) {
            byNumber.remove(stream.number(), stream);
            connection.callEnds();
        }
        countInUse(stream, false);
        if (last) {
            terminateIfUnused();
        }
    }

    // ---- frames of the server; the receiving thread

    @Override
    public void frame(int kind, int flags, int number, int extra, byte[] payload) {
        switch (kind) {
            case Frame.GOAWAY -> goAway(extra);
            case Frame.PONG -> pong(ByteBuffer.wrap(payload));
            case Frame.HEADERS, Frame.DATA, Frame.TRAILERS, Frame.RESET -> {
                RackcallClientStream stream = byNumber.get(number);
                // Frames of a call that was cancelled here may still arrive.
                if (stream != null) {
                    frame(stream, kind, flags, extra, payload);
                }
            }
            default -> throw new FrameBreachException("a server that sends a frame of kind " + kind);
        }
    }

    private static void frame(RackcallClientStream stream, int kind, int flags, int extra, byte[] payload) {
        switch (kind) {
            case Frame.HEADERS -> {
                ByteBuffer in = ByteBuffer.wrap(payload);
                long size = MetadataFrames.size(in);
                stream.headers(MetadataFrames.decode(in), size);
            }
            case Frame.DATA -> stream.data(payload);
            case Frame.TRAILERS -> {
                ByteBuffer in = ByteBuffer.wrap(payload);
                long size = MetadataFrames.size(in);
                stream.trailers(MetadataFrames.decode(in), size);
            }
            default -> {
                Status status = Status.fromCodeValue(extra);
                String description =
                        new String(payload, 0, Math.min(payload.length, MOST_DESCRIPTION), StandardCharsets.UTF_8);
                boolean refused = (flags & Frame.REFUSED) != 0;
                stream.ended(
                        (status.isOk() ? Status.INTERNAL : status).withDescription(description),
                        refused ? RpcProgress.REFUSED : RpcProgress.PROCESSED,
                        true);
            }
        }
    }

    @Override
    public void credit(int number, long consumed) {
        RackcallClientStream stream = byNumber.get(number);
        if (stream != null) {
            connection.sender().credited(stream.out(), consumed);
        }
    }

    private void goAway(int lastAccepted) {
        connection.sender().openNoMore();
        Status reason =
                Status.UNAVAILABLE.withDescription("the server of channel " + address.channel() + " is shutting down");
        shutDown(reason, new GoAwayDisconnectError(GrpcUtil.Http2Error.NO_ERROR));
        for (RackcallClientStream stream : liveStreams()) {
            if (stream.number() == 0 || stream.number() > lastAccepted) {
                stream.ended(reason, progress(stream, RpcProgress.REFUSED), true);
            }
        }
        terminateIfUnused();
    }

    /**
     * The progress of a call that ends with its connection. gRPC retries a call that was never sent as often as
     * needed, but a refused one only once.
     */
    private static RpcProgress progress(RackcallClientStream stream, RpcProgress sent) {
        return stream.number() == 0 ? RpcProgress.MISCARRIED : sent;
    }

    /** Frames of blocking calls only wake the threads that wait; those of ended calls are dropped. */
    @Override
    public boolean isHarmless(int number) {
        RackcallClientStream stream = byNumber.get(number);
        return number != 0 && (stream == null || stream.isBlocking());
    }

    /** How long callers of this server spin. */
    SpinTime spinTime() {
        return spinTime;
    }

    @Override
    public void closed(String reason) {
        Status status = Status.UNAVAILABLE.withDescription(
                "the connection to channel " + address.channel() + " has ended: " + reason);
        shutDown(status, SimpleDisconnectError.CONNECTION_RESET);
        for (RackcallClientStream stream : liveStreams()) {
            stream.ended(status, progress(stream, RpcProgress.PROCESSED), false);
        }
        terminate();
    }

    @Override
    public void ping(PingCallback callback, Executor executor) {
        Status failure;
        long number = 0;
        synchronized (lock) {
            failure = terminated || connection == null
                    ? Status.UNAVAILABLE.withDescription("the channel is not connected")
                    : null;
            if (failure == null) {
                number = ++lastPing;
                pings.put(number, new Ping(callback, executor, System.nanoTime()));
            }
        }
        if (failure != null) {
            executor.execute(() -> callback.onFailure(failure));
            return;
        }
        connection
                .sender()
                .control(
                        Frame.PING,
                        0,
                        ByteBuffer.allocate(Long.BYTES).putLong(number).array());
    }

    private void pong(ByteBuffer payload) {
        if (payload.remaining() != Long.BYTES) {
            throw new FrameBreachException("a PONG of " + payload.remaining() + " bytes");
        }
        Ping ping;
        synchronized (lock) {
            ping = pings.remove(payload.getLong());
        }
        if (ping != null) {
            long nanos = System.nanoTime() - ping.since;
            ping.executor.execute(() -> ping.callback.onSuccess(nanos));
        }
    }

    // ---- what else gRPC asks

    @Override
    public Attributes getAttributes() {
        return attributes;
    }

    @Override
    public InternalLogId getLogId() {
        return logId;
    }

    @Override
    public ListenableFuture<SocketStats> getStats() {
        return Futures.immediateFuture(new SocketStats(
                tracer.getStats(),
                attributes.get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR),
                address,
                new SocketOptions.Builder().build(),
                null));
    }

    @Override
    public String toString() {
        return logId.toString();
    }
}
