package dev.rackcall.rpc.chaos;

import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Implements {@link Chaos} and counts its unfinished calls. */
public final class ChaosService implements Chaos {
    private static final SharedType<Grain> GRAIN = SharedType.of(Grain.class);
    /** The memory of an argument whose caller has timed out may be reused and lead anywhere. */
    private static final int MOST_GRAINS = 1_000;

    public final AtomicLong openStreams = new AtomicLong();
    public final ChaosTally calls = new ChaosTally();
    /** Its own server, for nested calls. */
    public volatile Chaos self;

    private final List<Runnable> met = new ArrayList<>();

    /** Takes that long; ignores interrupts and cancellation. */
    private static void pause(int micros) {
        long end = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(micros);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static <T> CompletableFuture<T> after(int micros, Supplier<T> result) {
        return CompletableFuture.supplyAsync(result, CompletableFuture.delayedExecutor(micros, TimeUnit.MICROSECONDS));
    }

    @Override
    public long next(long value, int micros) {
        pause(micros);
        return value + 1;
    }

    @Override
    public byte[] bytes(byte[] value, int micros) {
        pause(micros);
        return value;
    }

    @Override
    public CompletableFuture<Long> later(long value, int micros) {
        return after(micros, () -> value + 1);
    }

    @Override
    public void tell(long value, int micros) {
        pause(micros);
    }

    @Override
    public void show(Grain first, int micros) {
        sum(first, micros);
    }

    @Override
    public Stream<Long> count(long from, int elements, int micros) {
        openStreams.incrementAndGet();
        Stream<Long> numbers = LongStream.range(from, from + elements).boxed().onClose(openStreams::decrementAndGet);
        pause(micros);
        return numbers;
    }

    @Override
    public long total(Stream<Long> numbers, int micros) {
        try (numbers) {
            pause(micros);
            return numbers.mapToLong(each -> each).sum();
        }
    }

    @Override
    public Stream<Long> nexts(Stream<Long> numbers, int micros) {
        openStreams.incrementAndGet();
        Stream<Long> answers = numbers.map(each -> each + 1).onClose(openStreams::decrementAndGet);
        pause(micros);
        return answers;
    }

    @Override
    public long sum(Grain first, int micros) {
        pause(micros);
        Grain copy = RpcContext.current().orElseThrow().temporaryScope().create(Grain.class);
        copy.value(total(first));
        return copy.value();
    }

    private static long total(Grain first) {
        Grain grain = GRAIN.flyweight();
        long sum = first.value();
        boolean more = first.next(grain);
        for (int i = 0; more && i < MOST_GRAINS; i++) {
            sum += grain.value();
            more = grain.next(grain);
        }
        return sum;
    }

    @Override
    public CompletableFuture<Long> sumLater(Grain first, int micros) {
        return after(micros, () -> total(first));
    }

    @Override
    public long take(Grain first, int micros) {
        long sum = total(first);
        Scope taken = RpcContext.current().orElseThrow().adopt(first);
        pause(micros);
        taken.close();
        return sum;
    }

    /** A chain of the values from {@code value} up. */
    static Grain chain(Scope scope, long value, int grains) {
        Grain first = null;
        for (int i = grains - 1; i >= 0; i--) {
            Grain grain = scope.create(Grain.class);
            grain.value(value + i);
            grain.next(first == null ? Ref.nullRef() : SharedObject.toRef(first));
            first = grain;
        }
        return first;
    }

    /** The sum of such a chain. */
    static long sumOf(long value, int grains) {
        return grains * value + grains * (grains - 1L) / 2;
    }

    private static Grain reply(long value, int grains) {
        return chain(RpcContext.current().orElseThrow().replyScope(), value, grains);
    }

    @Override
    public Grain make(long value, int grains, int micros) {
        Grain made = reply(value, grains);
        pause(micros);
        return made;
    }

    @Override
    public CompletableFuture<Grain> makeLater(long value, int grains, int micros) {
        Grain made = reply(value, grains);
        return after(micros, () -> made);
    }

    @Override
    public Grain fail(long value, int micros) {
        reply(value, 10);
        pause(micros);
        throw new RpcException(Status.Code.ABORTED.with("on purpose"), Metadata.of("value", Long.toString(value)));
    }

    @Override
    public long nested(long value, int depth, int micros) {
        return depth == 0 ? next(value, micros) : self.nested(value + 1, depth - 1, micros);
    }

    @Override
    public String header(String key, int micros) {
        pause(micros);
        return RpcContext.current().orElseThrow().headers().text(key).orElse("none");
    }

    @Override
    public CompletableFuture<byte[]> meet(int expected, byte[] value) {
        CompletableFuture<byte[]> together = new CompletableFuture<>();
        meet(expected, () -> together.complete(value));
        return together;
    }

    @Override
    public CompletableFuture<Long> meetWith(int expected, Grain first) {
        RpcContext.current().orElseThrow().temporaryScope().create(Grain.class);
        CompletableFuture<Long> together = new CompletableFuture<>();
        meet(expected, () -> together.complete(total(first)));
        return together;
    }

    private void meet(int expected, Runnable answer) {
        List<Runnable> all;
        synchronized (met) {
            met.add(answer);
            if (met.size() < expected) {
                return;
            }
            all = List.copyOf(met);
            met.clear();
        }
        // On another thread, because the answer may wait for what another handler holds.
        Thread.startVirtualThread(() -> all.forEach(Runnable::run));
    }

    @Override
    public long[] usedBytes() {
        RpcContext context = RpcContext.current().orElseThrow();
        return new long[] {
            context.replyScope().arena().usedBytes(),
            context.temporaryScope().arena().usedBytes()
        };
    }
}
