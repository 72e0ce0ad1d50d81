package dev.rackcall.tracing;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import io.opentelemetry.api.trace.Span;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** What the tests call. */
@RpcService("/test/relay")
public interface Relay {
    /** The trace in which the handler runs. */
    @Rpc
    String trace();

    @Rpc
    CompletableFuture<String> later();

    @Rpc
    Stream<String> many(int count);

    @Rpc
    void fail(String why);

    /** Answers with the current span's trace. */
    final class Current implements Relay {
        @Override
        public String trace() {
            return Span.current().getSpanContext().getTraceId();
        }

        @Override
        public CompletableFuture<String> later() {
            return CompletableFuture.completedFuture(trace());
        }

        @Override
        public Stream<String> many(int count) {
            return Stream.generate(this::trace).limit(count);
        }

        @Override
        public void fail(String why) {
            throw new IllegalStateException(why);
        }
    }
}
