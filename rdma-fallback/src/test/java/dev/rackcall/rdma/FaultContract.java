package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.testkit.Await;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Calls while connections break. Each ends once, by its deadline, with its result or UNAVAILABLE. None is executed
 * twice, later calls find a connection, and in the end nothing is left of any connection.
 */
@Timeout(300)
abstract class FaultContract {
    private static final int CALLERS = 3;
    static final Duration TIMEOUT = Duration.ofSeconds(60);

    final long seed = Long.getLong("rackcall.seed", System.nanoTime());
    final Random random = new Random(seed);
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final AtomicInteger results = new AtomicInteger();
    private final AtomicInteger unavailable = new AtomicInteger();
    private final AtomicInteger unanswered = new AtomicInteger();
    private final Queue<CompletableFuture<Integer>> answers = new ConcurrentLinkedQueue<>();
    private volatile boolean over;

    /** Notes each call that it executes. */
    private final class Counting extends EchoService {
        final Set<Long> executed = ConcurrentHashMap.newKeySet();

        @Override
        public long add(long first, long second) {
            if (!executed.add(first)) {
                wrong.add("call " + first + " was executed twice");
            }
            LockSupport.parkNanos(second);
            return first + second;
        }
    }

    private void call(Echo echo, long id, long nanos) {
        long begin = System.nanoTime();
        try {
            long sum = echo.add(id, nanos);
            results.incrementAndGet();
            if (sum != id + nanos) {
                wrong.add("call " + id + " returned " + sum);
            }
        } catch (RpcException e) {
            failed(id, e);
        }
        if (System.nanoTime() - begin > TIMEOUT.toNanos()) {
            wrong.add("call " + id + " took longer than " + TIMEOUT);
        }
    }

    private void failed(long id, Throwable e) {
        if (e instanceof RpcException rpc && rpc.code() == Status.Code.UNAVAILABLE) {
            unavailable.incrementAndGet();
        } else {
            wrong.add("call " + id + " ended with " + e);
        }
    }

    private void callLater(Echo echo, int id) {
        unanswered.incrementAndGet();
        AtomicInteger ends = new AtomicInteger();
        CompletableFuture<Integer> answer;
        try {
            answer = echo.later(id, 1);
        } catch (RpcException e) {
            answer = CompletableFuture.failedFuture(e);
        }
        answers.add(answer.whenComplete((value, e) -> {
            if (ends.incrementAndGet() != 1) {
                wrong.add("call " + id + " ended twice");
            }
            if (e != null) {
                failed(id, e);
            } else {
                results.incrementAndGet();
            }
            unanswered.decrementAndGet();
        }));
    }

    private Thread caller(Echo echo, int number) {
        return Thread.ofPlatform().start(() -> {
            Random own = new Random(seed + number);
            for (int i = 0; !over; i++) {
                long id = (long) number << 32 | i;
                if (unanswered.get() < CALLERS && i % 3 == 0) {
                    callLater(echo, i);
                }
                call(echo, id, own.nextInt(2_000_000));
            }
        });
    }

    /** Where the server listens, at any port. */
    abstract URI anyPort();

    /** How often something breaks. */
    abstract int faults();

    /** Breaks something. */
    abstract void inject();

    /** Connections of both sides that are open. */
    abstract int connections();

    /** Called when both sides are closed; fails if anything of a connection is left. */
    abstract void checkThatNothingIsLeft();

    @Test
    void shouldEndEachCallOnceWhateverBreaksAndLeaveNothing() throws InterruptedException {
        Counting service = new Counting();
        try (RpcServer endpoint = EchoServer.at(anyPort(), service);
                RpcChannel channel = EchoServer.channel(endpoint)) {
            Echo echo = channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(TIMEOUT));
            List<Thread> callers = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                callers.add(caller(echo, i));
            }
            // More if by chance each of them met no call.
            for (int i = 0; (i < faults() || unavailable.get() == 0) && wrong.isEmpty(); i++) {
                awaitMoreResults();
                LockSupport.parkNanos(random.nextInt(5_000_000));
                inject();
            }
            awaitMoreResults();
            over = true;
            for (Thread caller : callers) {
                caller.join(2 * TIMEOUT.toMillis());
                assertThat(caller.isAlive()).as("a caller hangs").isFalse();
            }
            until("each call has ended", () -> unanswered.get() == 0);
            // The last one completes only after it was counted.
            until("each answer is complete", () -> answers.stream().allMatch(CompletableFuture::isDone));
            until("the server keeps one connection", () -> endpoint.connections() <= 1);
        }
        until("no connection is left", () -> connections() == 0);
        assertThat(wrong).as("seed %d", seed).isEmpty();
        assertThat(unavailable).as("calls that were hit").hasPositiveValue();
        checkThatNothingIsLeft();
    }

    /** Waits until calls succeed again. */
    private void awaitMoreResults() {
        int before = results.get();
        until("calls succeed", () -> results.get() > before || !wrong.isEmpty());
    }

    final void until(String what, BooleanSupplier condition) {
        // The last value, which a failure shows, tells how far the calls got.
        Await.equal(
                what + ", seed " + seed,
                "yes",
                () -> condition.getAsBoolean()
                        ? "yes"
                        : "not yet: " + results + " results, " + unavailable + " unavailable, " + wrong);
    }
}
