package dev.rackcall.rack.guest;

import dev.rackcall.rpc.RpcContext;
import dev.rackcall.shm.Scope;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Serves {@link Yard}. */
final class YardService implements Yard {
    @Override
    public void nothing() {
        // That is all.
    }

    @Override
    public long add(long first, long second) {
        return first + second;
    }

    @Override
    public byte[] echo(byte[] bytes) {
        return bytes;
    }

    @Override
    public long sum(Crate top) {
        long sum = 0;
        for (Crate crate = top; crate != null; crate = crate.below().orElse(null)) {
            sum += crate.id();
        }
        return sum;
    }

    @Override
    public Crate pile(int crates) {
        return pile(RpcContext.current().orElseThrow().replyScope(), crates, "A");
    }

    /** Crates with the numbers from 0 on, the highest on top. */
    static Crate pile(Scope scope, int crates, String builder) {
        Crate top = null;
        for (int i = 0; i < crates; i++) {
            Crate crate = scope.create(Crate.class).id(i).label(builder + i);
            if (top != null) {
                crate.below(Optional.of(top));
            }
            top = crate;
        }
        return top;
    }

    @Override
    public Stream<Integer> count(int end) {
        return IntStream.range(0, end).boxed();
    }

    @Override
    public CompletableFuture<Integer> later(int value, int millis) {
        Executor delayed = CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS);
        return CompletableFuture.supplyAsync(() -> value, delayed);
    }

    @Override
    public void block(long millis) {
        CountDownLatch cancelled = new CountDownLatch(1);
        RpcContext.current().orElseThrow().onCancel(cancelled::countDown);
        try {
            boolean early = cancelled.await(millis, TimeUnit.MILLISECONDS);
            assert early || millis >= 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
