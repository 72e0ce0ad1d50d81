package dev.rackcall.rpc.contract;

import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Implements {@link Echo} and counts what tests check. */
public class EchoService implements Echo {
    public final AtomicInteger cancelled = new AtomicInteger();
    public final AtomicInteger blocking = new AtomicInteger();
    public final AtomicInteger closedStreams = new AtomicInteger();
    private final List<String> notes = new ArrayList<>();
    /** Enough for every test that reads them; other tests send endlessly. */
    private static final int KEPT_NOTES = 10_000;

    @Override
    public void nothing() {}

    @Override
    public long add(long first, long second) {
        return first + second;
    }

    @Override
    public byte[] bytes(byte[] value) {
        return value;
    }

    @Override
    public Parcel parcel(Parcel parcel) {
        return parcel;
    }

    @Override
    public CompletableFuture<Integer> later(int value, int millis) {
        return CompletableFuture.supplyAsync(
                () -> value, CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS));
    }

    @Override
    public synchronized void note(String text) {
        if (notes.size() < KEPT_NOTES) {
            notes.add(text);
        }
    }

    @Override
    public synchronized List<String> notes() {
        return List.copyOf(notes);
    }

    @Override
    public Stream<Integer> count(int from, int to) {
        return IntStream.range(from, to).boxed().onClose(closedStreams::incrementAndGet);
    }

    @Override
    public Stream<String> failAfter(int elements) {
        return IntStream.rangeClosed(0, elements).mapToObj(i -> {
            if (i == elements) {
                throw Status.Code.ABORTED.with("after %d elements", elements).asException();
            }
            return "element " + i;
        });
    }

    @Override
    public void fail(String code, String description) {
        throw new RpcException(
                Status.Code.valueOf(code).with(description),
                Metadata.of("detail", "why").with("raw-bin", new byte[] {7}));
    }

    @Override
    public void crash(String message) {
        throw new IllegalStateException(message);
    }

    @Override
    public boolean block(long millis) {
        CountDownLatch gone = new CountDownLatch(1);
        RpcContext.current().orElseThrow().onCancel(gone::countDown);
        blocking.incrementAndGet();
        try {
            boolean early = gone.await(millis, TimeUnit.MILLISECONDS);
            if (early) {
                cancelled.incrementAndGet();
            }
            return early;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public String header(String key) {
        return RpcContext.current().orElseThrow().headers().text(key).orElse("none");
    }

    @Override
    public long remainingMillis() {
        return RpcContext.current()
                .orElseThrow()
                .deadline()
                .map(deadline -> deadline.timeRemaining(TimeUnit.MILLISECONDS))
                .orElse(Duration.ofDays(1).toMillis());
    }
}
