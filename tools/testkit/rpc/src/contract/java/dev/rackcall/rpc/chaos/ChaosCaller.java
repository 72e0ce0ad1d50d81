package dev.rackcall.rpc.chaos;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.chaos.Chaos.Grain;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeException;
import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Calls of all kinds in random order. Most time out or are cancelled at some moment between sending and answer; every
 * answer that arrives is checked. Used by one thread.
 */
public final class ChaosCaller {
    /** The largest value that is sent. */
    static final int MOST_BYTES = 6_000;

    private static final int MOST_GRAINS = 200;
    private static final int MOST_ELEMENTS = 3_000;
    /** The number of streams, and of results, that stay open for a while. */
    private static final int MOST_LEFT = 8;

    private static final int LEAST_MICROS = 100;
    private static final int MOST_MICROS = 20_000;
    /** Far longer than any call takes. */
    private static final Duration PATIENT = Duration.ofSeconds(30);

    private enum Kind {
        VALUE,
        BYTES,
        FUTURE,
        ONE_WAY,
        ONE_WAY_SHARED,
        STREAM,
        SENT_STREAM,
        STREAM_BOTH_WAYS,
        SHARED,
        SHARED_FUTURE,
        TAKEN,
        RESULT,
        RESULT_FUTURE,
        FAILURE,
        NESTED,
        HEADER
    }

    private record Result(RpcChannel channel, Grain grain) {}

    private final Random random;
    private final List<RpcChannel> channels;
    /** Whether servers may die, which ends calls as UNAVAILABLE and takes the memory of a connection's scopes. */
    private final boolean serversDie;

    private final Deque<Stream<Long>> leftStreams = new ArrayDeque<>();
    private final Deque<Result> leftResults = new ArrayDeque<>();
    private final List<CompletableFuture<?>> callbacks = new ArrayList<>();
    private RpcChannel channel;
    private long succeeded;

    public ChaosCaller(long seed, List<RpcChannel> channels, boolean serversDie) {
        this.random = new Random(seed);
        this.channels = channels;
        this.serversDie = serversDie;
        this.channel = channels.getFirst();
    }

    /** Calls that had an answer. */
    public long succeeded() {
        return succeeded;
    }

    /**
     * Makes one call.
     *
     * @throws AssertionError if it ended as it must not
     */
    public void call() {
        Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
        channel = channels.get(random.nextInt(channels.size()));
        try {
            call(kind);
            succeeded++;
        } catch (RpcException | ScopeException e) {
            judge(kind, e);
        } catch (CompletionException e) {
            judge(kind, e.getCause());
        } catch (CancellationException e) {
            judge(kind, e);
        }
    }

    private void call(Kind kind) {
        long value = random.nextInt();
        switch (kind) {
            case VALUE -> check(kind, stub().next(value, micros()) == value + 1);
            case BYTES -> bytes();
            case FUTURE -> settle(stub().later(value, micros()), found -> found == value + 1);
            case ONE_WAY -> stub().tell(value, micros() / 10);
            case ONE_WAY_SHARED -> {
                try (Scope scope = scope()) {
                    stub(isolated()).show(ChaosService.chain(scope, value, grains()), micros() / 10);
                }
            }
            case STREAM -> stream(value);
            case SENT_STREAM -> {
                int elements = random.nextInt(MOST_ELEMENTS);
                check(kind, stub().total(numbers(value, elements), micros()) == ChaosService.sumOf(value, elements));
            }
            case STREAM_BOTH_WAYS -> {
                int elements = random.nextInt(MOST_ELEMENTS);
                try (Stream<Long> answers = stub().nexts(numbers(value, elements), micros())) {
                    read(answers, value + 1, elements, random.nextBoolean() ? elements : random.nextInt(elements + 1));
                }
            }
            case SHARED, SHARED_FUTURE -> share(kind, value);
            case TAKEN -> {
                try (Scope scope = channel.newSharedScope()) {
                    int grains = grains();
                    Grain first = ChaosService.chain(scope, value, grains);
                    check(kind, stub().take(first, micros()) == ChaosService.sumOf(value, grains));
                }
            }
            case RESULT -> received(value, channel, stub().make(value, grains(), micros()), random.nextBoolean());
            case RESULT_FUTURE -> resultLater(value);
            case FAILURE -> fail(value);
            case NESTED -> {
                int depth = 1 + random.nextInt(2);
                // Handlers that wait for each other's threads end only by their deadlines.
                Chaos hasty = channel.stub(Chaos.class, CallOptions.DEFAULT.withTimeout(shortTime()));
                check(kind, hasty.nested(value, depth, micros()) == value + depth + 1);
            }
            case HEADER -> {
                Chaos stub = stub(options().withHeaders(Metadata.of("sent", "value " + value)));
                check(kind, stub.header("sent", micros()).equals("value " + value));
            }
        }
    }

    // ---- kinds

    private void bytes() {
        byte[] value = new byte[random.nextInt(MOST_BYTES)];
        random.nextBytes(value);
        check(Kind.BYTES, Arrays.equals(stub().bytes(value, micros()), value));
    }

    private void fail(long value) {
        try {
            stub().fail(value, micros());
        } catch (RpcException e) {
            if (e.code() == Status.Code.ABORTED) {
                check(Kind.FAILURE, e.trailers().text("value").equals(Optional.of(Long.toString(value))));
                return;
            }
            throw e;
        }
        throw new AssertionError("a handler that throws has returned");
    }

    private void stream(long from) {
        int elements = random.nextInt(MOST_ELEMENTS);
        Stream<Long> stream = stub().count(from, elements, micros());
        switch (random.nextInt(4)) {
            case 0 -> read(stream, from, elements, elements);
            case 1 -> {
                try (stream) {
                    read(stream, from, elements, random.nextInt(elements + 1));
                }
            }
            case 2 -> stream.close();
            default -> {
                leftStreams.add(stream);
                if (leftStreams.size() > MOST_LEFT) {
                    leftStreams.remove().close();
                }
            }
        }
    }

    private static void read(Stream<Long> stream, long from, int elements, int wanted) {
        Iterator<Long> numbers = stream.iterator();
        for (int i = 0; i < wanted; i++) {
            check(Kind.STREAM, numbers.next() == from + i);
        }
        check(Kind.STREAM, wanted < elements || !numbers.hasNext());
    }

    private static Stream<Long> numbers(long from, int elements) {
        return LongStream.range(from, from + elements).boxed();
    }

    private void share(Kind kind, long value) {
        int grains = grains();
        long sum = ChaosService.sumOf(value, grains);
        try (Scope scope = scope()) {
            Grain first = ChaosService.chain(scope, value, grains);
            Chaos stub = stub(isolated());
            if (kind == Kind.SHARED) {
                check(kind, stub.sum(first, micros()) == sum);
            } else {
                CompletableFuture<Long> found = stub.sumLater(first, micros());
                if (random.nextBoolean()) {
                    endEarly(found);
                }
                // The scope stays open until the future has completed.
                check(kind, found.join() == sum);
            }
        }
    }

    private void resultLater(long value) {
        RpcChannel from = channel;
        CompletableFuture<Grain> made = stub().makeLater(value, grains(), micros());
        if (random.nextBoolean()) {
            if (random.nextBoolean()) {
                endEarly(made);
            }
            received(value, from, made.join(), false);
            return;
        }
        callbacks.add(made.thenAccept(grain -> received(value, from, grain, false)));
        endEarly(made);
    }

    private void received(long value, RpcChannel from, Grain grain, boolean left) {
        check(Kind.RESULT, grain.value() == value);
        if (!left) {
            from.release(grain);
            return;
        }
        leftResults.add(new Result(from, grain));
        if (leftResults.size() > MOST_LEFT) {
            Result oldest = leftResults.remove();
            oldest.channel.release(oldest.grain);
        }
    }

    private <T> void settle(CompletableFuture<T> future, Predicate<T> isRight) {
        if (random.nextBoolean()) {
            check(Kind.FUTURE, isRight.test(future.join()));
            return;
        }
        callbacks.add(future.thenAccept(found -> check(Kind.FUTURE, isRight.test(found))));
        if (random.nextBoolean()) {
            endEarly(future);
        }
    }

    /** Ends a future in one of the ways open to a caller. */
    private void endEarly(CompletableFuture<?> future) {
        switch (random.nextInt(3)) {
            case 0 -> future.cancel(true);
            case 1 -> future.orTimeout(random.nextInt(MOST_MICROS), TimeUnit.MICROSECONDS);
            default -> future.completeExceptionally(new TimeoutException("given up"));
        }
    }

    // ---- what calls are made of

    private Chaos stub() {
        return stub(options());
    }

    private Chaos stub(CallOptions options) {
        return channel.stub(Chaos.class, options);
    }

    private CallOptions options() {
        return CallOptions.DEFAULT.withTimeout(random.nextInt(8) == 0 ? PATIENT : shortTime());
    }

    private CallOptions isolated() {
        Isolation[] modes = Isolation.values();
        return options().withIsolation(modes[random.nextInt(modes.length)]);
    }

    private Duration shortTime() {
        return Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(anyMicros()));
    }

    /** The duration of a handler; half of them take no time. */
    private int micros() {
        return random.nextBoolean() ? 0 : anyMicros();
    }

    /** Every order of magnitude equally often. */
    private int anyMicros() {
        return (int) (LEAST_MICROS * Math.pow((double) MOST_MICROS / LEAST_MICROS, random.nextDouble()));
    }

    private int grains() {
        return 1 + random.nextInt(MOST_GRAINS);
    }

    private Scope scope() {
        return random.nextInt(3) == 0 ? channel.newSharedScope() : channel.newScope();
    }

    // ---- judging

    private static void check(Kind kind, boolean right) {
        if (!right) {
            throw new AssertionError(kind + ": what came back is not what was asked for");
        }
    }

    private void judge(Kind kind, Throwable end) {
        boolean expected = end instanceof CancellationException
                || end instanceof TimeoutException
                || (end instanceof RpcException failed && isOfHaste(kind, failed))
                || (serversDie && isOfDeath(end));
        if (!expected) {
            throw new AssertionError(kind + " ended as no call with a deadline may: " + end, end);
        }
    }

    private static boolean isOfDeath(Throwable end) {
        return end instanceof ScopeException
                || (end instanceof RpcException failed && failed.code() == Status.Code.UNAVAILABLE);
    }

    private static boolean isOfHaste(Kind kind, RpcException end) {
        return switch (end.code()) {
            case DEADLINE_EXCEEDED -> true;
            case RESOURCE_EXHAUSTED -> end.getMessage().contains("slots were taken until the deadline");
            // A nested call of a handler whose caller has timed out.
            case CANCELLED -> kind == Kind.NESTED;
            default -> false;
        };
    }

    /** Closes and releases what stayed open, after every future has completed. */
    public void end() {
        for (CompletableFuture<?> callback : callbacks) {
            Await.until("a future to end", callback::isDone);
            if (callback.isCompletedExceptionally()) {
                Throwable end = callback.exceptionNow();
                judge(Kind.FUTURE, end instanceof CompletionException ? end.getCause() : end);
            }
        }
        callbacks.clear();
        leftStreams.forEach(Stream::close);
        leftStreams.clear();
        leftResults.forEach(each -> each.channel.release(each.grain));
        leftResults.clear();
    }
}
