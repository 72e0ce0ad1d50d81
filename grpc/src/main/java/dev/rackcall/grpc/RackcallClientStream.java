package dev.rackcall.grpc;

import dev.rackcall.grpc.wire.Frame;
import dev.rackcall.grpc.wire.OutboundStream;
import dev.rackcall.grpc.wire.PipeConnection;
import dev.rackcall.grpc.wire.PipeSender;
import dev.rackcall.shm.waiting.Spinning;
import dev.rackcall.shm.waiting.WaitStrategy;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.InternalStatus;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.SynchronizationContext;
import io.grpc.internal.AbstractClientStream;
import io.grpc.internal.ClientStreamListener.RpcProgress;
import io.grpc.internal.ReadableBuffers;
import io.grpc.internal.StatsTraceContext;
import io.grpc.internal.TransportTracer;
import io.grpc.internal.WritableBuffer;
import io.grpc.stub.InternalClientCalls;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * A call at the client. Its listener runs in the order of its tasks: on the thread that receives, or on the caller's.
 * No lock is held while it runs.
 */
final class RackcallClientStream extends AbstractClientStream {
    private static final byte[] NOTHING = new byte[0];

    private final RackcallClientTransport transport;
    private final MethodDescriptor<?, ?> method;
    private final State state;
    private final Out out = new Out();
    private final Sending sink = new Sending();
    private final InboundBytes inbound = new InboundBytes();
    private final SynchronizationContext tasks =
            new SynchronizationContext((thread, failure) -> failed(Status.fromThrowable(failure)));

    /** Whether a thread waits for this call and runs its listener; then it may as well receive. */
    private final boolean blocking;

    private String authority;
    /** The caller's wait, if it ended before the call. */
    private Spinning unmet;

    /** Whether the peer may know this stream. */
    private volatile int number;

    RackcallClientStream(
            RackcallClientTransport transport,
            MethodDescriptor<?, ?> method,
            Metadata headers,
            CallOptions options,
            StatsTraceContext stats,
            TransportTracer tracer) {
        super(HeapBuffer::allocate, stats, tracer, headers, options, false);
        this.transport = transport;
        this.method = method;
        this.authority = transport.authority();
        this.blocking = isOfBlockingStub(options);
        this.state = new State(transport.maxInboundMessageSize(), stats, tracer, options);
    }

    /** The stream's number; 0 before its OPEN frame is published. */
    int number() {
        return number;
    }

    /** Calls that were not made by a stub have no type. */
    private static boolean isOfBlockingStub(CallOptions options) {
        Object type = options.getOption(InternalClientCalls.getStubTypeOption());
        return type != null && InternalClientCalls.getStubType(options) == InternalClientCalls.StubType.BLOCKING;
    }

    boolean isBlocking() {
        return blocking;
    }

    OutboundStream out() {
        return out;
    }

    @Override
    public void setAuthority(String value) {
        authority = value;
    }

    @Override
    public Attributes getAttributes() {
        return transport.getAttributes();
    }

    @Override
    protected State transportState() {
        return state;
    }

    @Override
    protected Sink abstractClientStreamSink() {
        return sink;
    }

    // ---- from the server; the receiving thread

    /** @param size of the metadata, by HTTP/2's rule */
    void headers(Metadata headers, long size) {
        tasks.execute(() -> {
            if (isTooLarge("Response header metadata", size)) {
                return;
            }
            state.headers(headers);
        });
    }

    void data(byte[] bytes) {
        inbound.came(bytes.length);
        tasks.execute(() -> state.data(bytes));
    }

    /** @param size of the metadata, by HTTP/2's rule */
    void trailers(Metadata trailers, long size) {
        tasks.execute(() -> {
            if (isTooLarge("Response trailer metadata", size)) {
                return;
            }
            Status status = trailers.get(InternalStatus.CODE_KEY);
            String message = trailers.get(InternalStatus.MESSAGE_KEY);
            trailers.discardAll(InternalStatus.CODE_KEY);
            trailers.discardAll(InternalStatus.MESSAGE_KEY);
            state.end(
                    status == null
                            ? Status.INTERNAL.withDescription("the server ended the call without a status")
                            : status.withDescription(message),
                    trailers);
        });
    }

    private boolean isTooLarge(String what, long size) {
        int most = transport.maxInboundMetadataSize();
        if (size <= most) {
            return false;
        }
        failed(Status.RESOURCE_EXHAUSTED.withDescription(
                String.format(Locale.ROOT, "%s larger than %d: %d", what, most, size)));
        return true;
    }

    /** The server has ended the call without trailers, or the connection is gone. */
    void ended(Status status, RpcProgress progress, boolean stopDelivery) {
        tasks.execute(() -> state.abort(status, progress, stopDelivery));
    }

    /** Ends the call from this side and tells the server, unless that has ended the call. */
    private void failed(Status status) {
        tasks.execute(() -> {
            if (!state.done) {
                transport.connection().sender().reset(out, Status.Code.CANCELLED.value(), false, NOTHING);
            }
            // Also after the trailers: the application hears of them only once it has requested all messages.
            state.abort(status, RpcProgress.PROCESSED, true);
        });
    }

    // ---- to the server

    private final class Out extends OutboundStream {
        @Override
        protected void opening(int given) {
            number = given;
            transport.opening(given, RackcallClientStream.this);
        }

        @Override
        protected void queued(int bytes) {
            onSendingBytes(bytes);
        }

        @Override
        protected void left(int bytes) {
            tasks.execute(() -> state.onSentBytes(bytes));
        }

        @Override
        protected void ended() {
            // A RESET is in the pipe; the call has ended already.
        }
    }

    /** Called by the application's thread, except {@code cancel}. */
    private final class Sending implements Sink {
        @Override
        public void writeHeaders(Metadata metadata, byte[] payload) {
            transport.started(RackcallClientStream.this);
            byte[] open = MetadataFrames.encode(
                    metadata,
                    method.getFullMethodName().getBytes(StandardCharsets.UTF_8),
                    authority.getBytes(StandardCharsets.UTF_8));
            if (open.length > PipeSender.MAX_METADATA_BYTES) {
                failed(Status.RESOURCE_EXHAUSTED.withDescription(
                        "Request metadata larger than " + PipeSender.MAX_METADATA_BYTES + ": " + open.length));
                return;
            }
            state.statsOutboundHeaders();
            tasks.execute(state::allocated);
            PipeSender sender = transport.connection().sender();
            sender.add(out, Frame.OPEN, 0, open, open.length);
            if (!method.getType().clientSendsOneMessage()) {
                sender.flush(out);
            }
            // Otherwise it is sent together with the message, and wakes the server only once.
        }

        @Override
        public void writeFrame(WritableBuffer frame, boolean endOfStream, boolean flush, int messages) {
            PipeSender sender = transport.connection().sender();
            byte[] bytes = frame == null ? NOTHING : ((HeapBuffer) frame).bytes();
            int length = frame == null ? 0 : frame.readableBytes();
            sender.add(out, Frame.DATA, endOfStream ? Frame.END : 0, bytes, length);
            getTransportTracer().reportMessageSent(messages);
            // gRPC flushes a call's only message before its end; both leave together, and wake the server once.
            boolean endFollows = !endOfStream && method.getType().clientSendsOneMessage();
            if ((flush && !endFollows) || length == HeapBuffer.LARGEST) {
                sender.flush(out);
            }
            if (endOfStream && blocking && !Thread.currentThread().isVirtual()) {
                await(transport.connection());
            }
        }

        /** Receives on the caller's thread instead of sleeping. */
        private void await(PipeConnection connection) {
            Spinning spinning = new Spinning(WaitStrategy.adaptive(), transport.spinTime()).begin();
            if (!connection.help(spinning, () -> state.done)) {
                return;
            }
            if (state.done) {
                spinning.met();
            } else if (method.getType().serverSendsOneMessage()) {
                // A stream's end says nothing about how long its server takes to answer.
                tasks.execute(() -> unmet = spinning);
            }
        }

        @Override
        public void cancel(Status status) {
            failed(status);
        }
    }

    /** Its methods run in the order of the stream's tasks. */
    final class State extends AbstractClientStream.TransportState {
        private final StatsTraceContext stats;
        /** Written in the order of the tasks, read by a caller that waits. */
        private volatile boolean done;

        private boolean headersCame;

        State(int maxMessageSize, StatsTraceContext stats, TransportTracer tracer, CallOptions options) {
            super(maxMessageSize, stats, tracer, options);
            this.stats = stats;
        }

        private void statsOutboundHeaders() {
            stats.clientOutboundHeaders();
            getTransportTracer().reportLocalStreamStarted();
        }

        private void allocated() {
            if (!done) {
                onStreamAllocated();
            }
        }

        private void headers(Metadata headers) {
            if (done) {
                return;
            }
            if (headersCame) {
                failed(Status.INTERNAL.withDescription("the server sent headers twice"));
                return;
            }
            headersCame = true;
            inboundHeadersReceived(headers);
        }

        private void data(byte[] bytes) {
            if (!done) {
                inboundDataReceived(ReadableBuffers.wrap(bytes));
            }
        }

        private void end(Status status, Metadata trailers) {
            if (!done) {
                done = true;
                if (unmet != null) {
                    unmet.slept();
                }
                transport.connection().sender().abandon(out);
                transport.ended(RackcallClientStream.this);
                inboundTrailersReceived(trailers, status);
            }
        }

        private void abort(Status status, RpcProgress progress, boolean stopDelivery) {
            if (!done) {
                done = true;
                transport.connection().sender().abandonUnlessReset(out);
                transport.ended(RackcallClientStream.this);
            }
            // Even after trailers have arrived: an application that cancels does not want the messages before them.
            transportReportStatus(status, progress, stopDelivery, new Metadata());
        }

        @Override
        public void runOnTransportThread(Runnable action) {
            tasks.execute(action);
        }

        @Override
        public void bytesRead(int bytes) {
            if (inbound.consume(bytes) && !done) {
                transport.connection().sender().consumed(out, inbound.consumed());
            }
        }

        @Override
        public void deframeFailed(Throwable cause) {
            failed(Status.fromThrowable(cause));
        }
    }
}
