package dev.rackcall.rpc.balance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientCall.ResultReader;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Futures of calls that are sent again, with attempts that end as the test says. */
class RepeatedCallTest {
    private final Scripted attempts = new Scripted();
    private final List<Status> told = new CopyOnWriteArrayList<>();

    private RepeatedCall<String> begin() {
        return RepeatedCall.begin(attempts, (_, _) -> "unused", (status, trailers) -> told.add(status));
    }

    @Test
    void shouldSendAgainAndTellOnceHowItEnded() {
        CompletableFuture<Object> second = new CompletableFuture<>();
        attempts.outcomes.add(() -> CompletableFuture.failedFuture(unavailable()));
        attempts.outcomes.add(() -> second);

        RepeatedCall<String> call = begin();
        assertThat(call).isNotDone();
        second.complete("answer");

        assertThat(call).isCompletedWithValue("answer");
        assertThat(told).containsExactly(Status.OK);
        assertThat(attempts.finished).hasValue(1);
    }

    @Test
    void shouldEndWithWhateverAnAttemptThrows() {
        attempts.outcomes.add(() -> {
            throw new StackOverflowError("of the caller");
        });

        assertThatThrownBy(begin()::get).hasRootCauseInstanceOf(StackOverflowError.class);
        assertThat(told)
                .singleElement()
                .satisfies(status -> assertThat(status.code()).isEqualTo(Status.Code.INTERNAL));
        assertThat(attempts.finished).hasValue(1);
    }

    @Test
    void shouldEndWithWhateverALaterAttemptThrows() {
        CompletableFuture<Object> first = new CompletableFuture<>();
        attempts.outcomes.add(() -> first);
        attempts.outcomes.add(() -> {
            throw new OutOfMemoryError("of whoever completes the first");
        });
        RepeatedCall<String> call = begin();

        first.completeExceptionally(unavailable());

        assertThatThrownBy(call::get).hasRootCauseInstanceOf(OutOfMemoryError.class);
        assertThat(attempts.finished).hasValue(1);
    }

    @Test
    void shouldCancelTheAttemptThatIsUnderWay() {
        CompletableFuture<Object> only = new CompletableFuture<>();
        attempts.outcomes.add(() -> only);

        assertThat(begin().cancel(true)).isTrue();

        assertThat(only).isCancelled();
        assertThat(told)
                .singleElement()
                .satisfies(status -> assertThat(status.code()).isEqualTo(Status.Code.CANCELLED));
    }

    @Test
    void shouldEndWhateverTheObserverThrows() {
        attempts.outcomes.add(() -> CompletableFuture.completedFuture("answer"));

        RepeatedCall<String> call = RepeatedCall.begin(attempts, (_, _) -> "unused", (_, _) -> {
            throw new IllegalStateException("on purpose");
        });

        assertThat(call).isCompletedWithValue("answer");
    }

    @Test
    void shouldCancelTheAttemptIfTheCallerCompletesTheFuture() {
        CompletableFuture<Object> first = new CompletableFuture<>();
        CompletableFuture<Object> second = new CompletableFuture<>();
        attempts.outcomes.add(() -> first);
        attempts.outcomes.add(() -> second);

        begin().completeExceptionally(new TimeoutException("of the caller"));
        begin().complete("of the caller");

        assertThat(first).isCancelled();
        assertThat(second).isCancelled();
    }

    /** An attempt whose answer came before it was cancelled, or whose server had not begun it. */
    private static final class Answered extends CompletableFuture<Object> implements ClientCall.Pending {
        final List<Object> dropped = new ArrayList<>();

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            return false;
        }

        @Override
        public boolean wasNeverBegun() {
            return true;
        }

        @Override
        public void drop(Object value) {
            dropped.add(value);
        }
    }

    @Test
    void shouldTellWhetherTheServerHadBegunTheCall() {
        Answered notBegun = new Answered();
        CompletableFuture<Object> begun = new CompletableFuture<>();
        attempts.outcomes.add(() -> notBegun);
        attempts.outcomes.add(() -> begun);
        RepeatedCall<String> call = begin();

        notBegun.completeExceptionally(unavailable());
        begun.completeExceptionally(unavailable());

        assertThat(attempts.neverBegun).containsExactly(true, false);
        assertThat(call).isCompletedExceptionally();
    }

    @Test
    void shouldDropAnAnswerThatItsCallerDoesNotGet() {
        Answered only = new Answered();
        attempts.outcomes.add(() -> only);
        RepeatedCall<String> call = begin();

        call.completeExceptionally(new TimeoutException("of the caller"));
        only.complete("answer");

        assertThat(only.dropped).containsExactly("answer");
    }

    @Test
    void shouldWaitForAServerOnAnotherThread() {
        attempts.noServer = true;
        attempts.outcomes.add(() -> CompletableFuture.completedFuture("answer"));
        RepeatedCall<String> call = begin();
        assertThat(call).isNotDone();
        CompletableFuture<String> joined = Concurrently.start(call::join);

        attempts.waiting.remove().run();

        assertThat(call).succeedsWithin(Await.BOUND).isEqualTo("answer");
        assertThat(joined).succeedsWithin(Await.BOUND).isEqualTo("answer");
    }

    @Test
    void shouldNotWaitForAServerOnTheThreadThatCompletesAnAttempt() {
        CompletableFuture<Object> first = new CompletableFuture<>();
        attempts.outcomes.add(() -> first);
        attempts.outcomes.add(() -> CompletableFuture.completedFuture("answer"));
        RepeatedCall<String> call = begin();
        attempts.noServer = true;

        first.completeExceptionally(unavailable());
        assertThat(call).isNotDone();
        attempts.waiting.remove().run();

        assertThat(call).succeedsWithin(Await.BOUND).isEqualTo("answer");
    }

    @Test
    void shouldEndTheWaitForAServerThatItsCallerCancels() {
        CountDownLatch waits = new CountDownLatch(1);
        attempts.noServer = true;
        attempts.outcomes.add(() -> {
            waits.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                throw new CancellationException("interrupted");
            }
            return null;
        });
        RepeatedCall<String> call = begin();
        CompletableFuture<Void> waiting = Concurrently.start(() -> {
            attempts.waiting.remove().run();
            return null;
        });
        Await.latch(waits);

        assertThat(call.cancel(true)).isTrue();

        assertThat(waiting).succeedsWithin(Await.BOUND);
        Await.equal("ends", 1, told::size);
        assertThat(told.getFirst().code()).isEqualTo(Status.Code.CANCELLED);
    }

    @Test
    void shouldNotSendWhatWasCancelledWhileItWaited() {
        attempts.noServer = true;
        RepeatedCall<String> call = begin();

        assertThat(call.cancel(true)).isTrue();
        assertThat(call.wasNeverBegun()).isFalse();
        attempts.waiting.remove().run();

        Await.equal("ends", 1, told::size);
        assertThat(told.getFirst().code()).isEqualTo(Status.Code.CANCELLED);
        assertThat(attempts.finished).hasValue(1);
    }

    @Test
    void shouldEndIfTooManyWait() {
        attempts.noServer = true;
        attempts.full = true;

        assertThatThrownBy(begin()::get).rootCause().hasMessageContaining("too many calls wait");
        assertThat(attempts.finished).hasValue(1);
    }

    private static RpcException unavailable() {
        return Status.Code.UNAVAILABLE.with("the subchannel has ended").asException();
    }

    private static final class Scripted implements RepeatedCall.Attempts {
        final Deque<Supplier<CompletableFuture<Object>>> outcomes = new ArrayDeque<>();
        final List<Boolean> neverBegun = new ArrayList<>();
        /** What runs once there is a server. */
        final Deque<Runnable> waiting = new ArrayDeque<>();

        boolean noServer;
        boolean full;
        final AtomicInteger finished = new AtomicInteger();

        @Override
        @SuppressWarnings("unchecked") // the test's outcomes are of the type that it asks for
        public <R> CompletableFuture<R> attemptAsync(ResultReader<R> reader, CallObserver observer) {
            return noServer ? null : (CompletableFuture<R>) outcomes.remove().get();
        }

        @Override
        @SuppressWarnings("unchecked") // as above
        public <R> CompletableFuture<R> attemptWhenReady(
                ResultReader<R> reader, CallObserver observer, BooleanSupplier isOver) {
            CompletableFuture<R> attempt =
                    (CompletableFuture<R>) outcomes.remove().get();
            assertThat(isOver.getAsBoolean()).isFalse();
            return attempt;
        }

        @Override
        public void whereItMayWait(Runnable sending) {
            if (full) {
                throw Status.Code.RESOURCE_EXHAUSTED.with("too many calls wait").asException();
            }
            waiting.add(sending);
        }

        @Override
        public boolean maySendAgain(RpcException e, boolean wasNeverBegun) {
            neverBegun.add(wasNeverBegun);
            return !outcomes.isEmpty();
        }

        @Override
        public void finish() {
            finished.incrementAndGet();
        }
    }
}
