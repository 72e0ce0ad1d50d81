package dev.rackcall.route;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Library;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Answers with its name, and fails as often as the test requests. */
final class NumbersService implements Numbers {
    /** Much less than the time after which a server considers a polling thread stuck. */
    private static final long NAP_NANOS = 5_000_000;

    final AtomicInteger calls = new AtomicInteger();
    final AtomicInteger failures = new AtomicInteger();
    /** Completed when slow calls may end. */
    final CompletableFuture<Void> release = new CompletableFuture<>();

    private final String name;

    NumbersService(String name) {
        this.name = name;
    }

    @Override
    public String who() {
        calls.incrementAndGet();
        if (failures.get() > 0 && failures.getAndDecrement() > 0) {
            throw Status.Code.UNAVAILABLE.with("%s was told to fail", name).asException();
        }
        return name;
    }

    @Override
    public String whoAgain() {
        return who();
    }

    @Override
    public CompletableFuture<String> whoLater() {
        return CompletableFuture.completedFuture(who());
    }

    @Override
    public Stream<String> whoStreamed() {
        return Stream.of(who());
    }

    @Override
    public Stream<Long> upTo(long end) {
        return LongStream.range(0, end).boxed();
    }

    @Override
    public CompletableFuture<String> whoAfterANap() {
        LockSupport.parkNanos(NAP_NANOS);
        return whoLater();
    }

    @Override
    public CompletableFuture<String> slow() {
        calls.incrementAndGet();
        return release.thenApply(released -> name);
    }

    @Override
    public long sum(Library.Page first) {
        calls.incrementAndGet();
        return first.number();
    }
}
