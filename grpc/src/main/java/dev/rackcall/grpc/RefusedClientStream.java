package dev.rackcall.grpc;

import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.internal.ClientStreamListener;
import io.grpc.internal.ClientStreamListener.RpcProgress;
import io.grpc.internal.NoopClientStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * A call that its connection does not take any more, and that was sent nowhere. gRPC repeats it at once, up to 1,000
 * times, until it has heard of the connection's end; then the call fails. So the call ends only after 10 ms, because
 * the thread that tells gRPC may lose its processor.
 */
final class RefusedClientStream extends NoopClientStream {
    /** Not in the common pool, all of whose threads may wait for such calls. */
    private static final Executor LATER =
            CompletableFuture.delayedExecutor(10, TimeUnit.MILLISECONDS, Thread::startVirtualThread);

    private final Status reason;
    private final ClientStreamTracer[] tracers;

    RefusedClientStream(Status reason, ClientStreamTracer[] tracers) {
        this.reason = reason;
        this.tracers = tracers;
    }

    @Override
    public void start(ClientStreamListener listener) {
        LATER.execute(() -> {
            try {
                for (ClientStreamTracer tracer : tracers) {
                    tracer.streamClosed(reason);
                }
            } finally {
                // Also if a tracer fails.
                listener.closed(reason, RpcProgress.MISCARRIED, new Metadata());
            }
        });
    }
}
