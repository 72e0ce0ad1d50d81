package dev.rackcall.perf;

import java.util.concurrent.CompletableFuture;

/** The server's side of {@link BenchCalls}. */
final class BenchHandlers implements BenchCalls {
    @Override
    public long noop(long sequence) {
        return sequence;
    }

    @Override
    public CompletableFuture<Long> noopLater(long sequence) {
        return CompletableFuture.completedFuture(sequence);
    }

    @Override
    public byte[] echo(byte[] payload) {
        return payload;
    }

    @Override
    public long touch(BenchNode root) {
        return root.sequence();
    }
}
