package dev.rackcall.grpc;

import dev.rackcall.grpc.wire.Frame;
import dev.rackcall.grpc.wire.OutboundStream;
import dev.rackcall.grpc.wire.PipeSender;
import dev.rackcall.rpc.spi.LimitedLog;
import io.grpc.Attributes;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.SynchronizationContext;
import io.grpc.internal.AbstractServerStream;
import io.grpc.internal.ReadableBuffers;
import io.grpc.internal.ServerTransportListener;
import io.grpc.internal.StatsTraceContext;
import io.grpc.internal.TransportTracer;
import io.grpc.internal.WritableBuffer;
import java.nio.charset.StandardCharsets;

/** A call at the server; see {@link RackcallClientStream} about its threads. */
final class RackcallServerStream extends AbstractServerStream {
    private static final LimitedLog LOG = LimitedLog.of(RackcallServerStream.class);
    private static final int MOST_DESCRIPTION = 1024;

    private final RackcallServerTransport transport;
    private final int number;
    private final String authority;
    private final StatsTraceContext stats;
    private final State state;
    private final Out out = new Out();
    private final Sending sink = new Sending();
    private final InboundBytes inbound = new InboundBytes();
    private final SynchronizationContext tasks = new SynchronizationContext((thread, failure) -> failed(failure));

    /** The status that the application gave. Written before the trailers are added, read once they are written. */
    private Status answered = Status.UNKNOWN;

    RackcallServerStream(
            RackcallServerTransport transport,
            int number,
            String authority,
            StatsTraceContext stats,
            TransportTracer tracer,
            int maxInboundMessageSize) {
        super(HeapBuffer::allocate, stats);
        this.transport = transport;
        this.number = number;
        this.authority = authority;
        this.stats = stats;
        this.state = new State(stats, tracer, maxInboundMessageSize);
        transport.connection().sender().adopt(out, number);
    }

    OutboundStream out() {
        return out;
    }

    @Override
    public int streamId() {
        return number;
    }

    @Override
    public String getAuthority() {
        return authority;
    }

    @Override
    public Attributes getAttributes() {
        return transport.attributes();
    }

    @Override
    protected State transportState() {
        return state;
    }

    @Override
    protected Sink abstractServerStreamSink() {
        return sink;
    }

    // ---- from the client; the receiving thread

    void begin(ServerTransportListener listener, String method, Metadata headers) {
        tasks.execute(() -> {
            listener.streamCreated(this, method, headers);
            state.onStreamAllocated();
        });
    }

    /** Ends the call before gRPC's server hears of it. */
    void refuse(Status failure) {
        tasks.execute(() -> {
            reset(failure, failure);
            state.end();
            transport.ended(number);
        });
    }

    void data(byte[] bytes, boolean end) {
        inbound.came(bytes.length);
        if (!transport.budget().take(bytes.length)) {
            Status status = Status.RESOURCE_EXHAUSTED.withDescription(
                    "the server has not read " + InboundBudget.MOST_BYTES + " bytes of the calls on this connection");
            fail(status, status);
        }
        tasks.execute(() -> state.data(bytes, end));
    }

    /** The client has cancelled the call, or its connection is gone. */
    void ended(Status status) {
        // Not as a task, which another thread may run: this thread traces the client's next call.
        closeStats(status);
        tasks.execute(() -> state.abort(status));
    }

    /** Ends the call from this side, other than by the application's own status. */
    private void failed(Throwable failure) {
        Status status = Status.fromThrowable(failure);
        fail(status, status);
    }

    private void fail(Status status, Status toClient) {
        tasks.execute(() -> {
            if (!state.done) {
                reset(status, toClient);
                state.abort(status);
            }
        });
    }

    private void reset(Status status, Status toClient) {
        String text = toClient.getDescription() == null ? "" : toClient.getDescription();
        byte[] description =
                text.substring(0, Math.min(text.length(), MOST_DESCRIPTION)).getBytes(StandardCharsets.UTF_8);
        closeStats(status);
        transport.connection().sender().reset(out, toClient.getCode().value(), false, description);
    }

    /** Only the first call counts. */
    private void closeStats(Status status) {
        try {
            stats.streamClosed(status);
        } catch (RuntimeException | Error e) {
            LOG.warn("{}: the tracer of call {} failed at its end", transport, number, e);
        }
    }

    // ---- to the client

    private final class Out extends OutboundStream {
        @Override
        protected void opening(int given) {
            throw new IllegalStateException("servers open no streams");
        }

        @Override
        protected void queued(int bytes) {
            onSendingBytes(bytes);
        }

        @Override
        protected void left(int bytes) {
            tasks.execute(() -> state.onSentBytes(bytes));
        }

        /** A tracer hears of the end before the client does: before it hears of the client's next call. */
        @Override
        protected void endIsWritten() {
            closeStats(answered);
        }

        @Override
        protected void ended() {
            tasks.execute(state::sentAll);
        }
    }

    private final class Sending implements Sink {
        @Override
        public void writeHeaders(Metadata headers, boolean flush) {
            send(Frame.HEADERS, headers);
            if (flush) {
                transport.connection().sender().flush(out);
            }
        }

        @Override
        public void writeFrame(WritableBuffer frame, boolean flush, int messages) {
            PipeSender sender = transport.connection().sender();
            sender.add(out, Frame.DATA, 0, ((HeapBuffer) frame).bytes(), frame.readableBytes());
            state.sent(messages);
            if (flush || frame.readableBytes() == HeapBuffer.LARGEST) {
                sender.flush(out);
            }
        }

        @Override
        public void writeTrailers(Metadata trailers, boolean headersSent, Status status) {
            answered = status;
            send(Frame.TRAILERS, trailers);
            transport.connection().sender().flush(out);
        }

        private void send(int kind, Metadata metadata) {
            byte[] bytes = MetadataFrames.encode(metadata);
            if (bytes.length > PipeSender.MAX_METADATA_BYTES) {
                Status status = Status.RESOURCE_EXHAUSTED.withDescription(
                        "Response metadata larger than " + PipeSender.MAX_METADATA_BYTES + ": " + bytes.length);
                fail(status, status);
                return;
            }
            transport.connection().sender().add(out, kind, 0, bytes, bytes.length);
        }

        @Override
        public void cancel(Status status) {
            fail(status, Status.CANCELLED.withDescription("the server has cancelled the call"));
        }
    }

    /** Its methods run in the order of the stream's tasks. */
    final class State extends AbstractServerStream.TransportState {
        private boolean done;
        private boolean endCame;
        /** Bytes of the connection's budget that this stream occupies. */
        private long held;

        State(StatsTraceContext stats, TransportTracer tracer, int maxInboundMessageSize) {
            super(maxInboundMessageSize, stats, tracer);
        }

        private void data(byte[] bytes, boolean end) {
            if (done) {
                transport.budget().release(bytes.length);
                return;
            }
            held += bytes.length;
            if (endCame) {
                failed(Status.INTERNAL
                        .withDescription("the client sent more after its end")
                        .asRuntimeException());
                return;
            }
            endCame = end;
            inboundDataReceived(ReadableBuffers.wrap(bytes), end);
        }

        private void sent(int messages) {
            getTransportTracer().reportMessageSent(messages);
        }

        /** Trailers are in the pipe: the call is complete. */
        private void sentAll() {
            if (!done) {
                end();
                transport.ended(number);
                complete();
            }
        }

        private void abort(Status status) {
            if (!done) {
                end();
                transport.connection().sender().abandonUnlessReset(out);
                transport.ended(number);
                transportReportStatus(status);
            }
        }

        private void end() {
            done = true;
            transport.budget().release(held);
            held = 0;
        }

        @Override
        public void runOnTransportThread(Runnable action) {
            tasks.execute(action);
        }

        @Override
        public void bytesRead(int bytes) {
            if (!done) {
                held -= bytes;
                transport.budget().release(bytes);
            }
            if (inbound.consume(bytes) && !done && !endCame) {
                transport.connection().sender().consumed(out, inbound.consumed());
            }
        }

        @Override
        public void deframeFailed(Throwable cause) {
            failed(cause);
        }
    }
}
