package dev.rackcall.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Deadline;
import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.RegisterExtension;

/** No test here waits for an hour. */
class DeadlineClockTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration DEFAULT = Duration.ofMinutes(30);
    private static final CallOptions WITHIN_AN_HOUR = CallOptions.DEFAULT.withTimeout(HOUR);

    private final CountDownLatch end = new CountDownLatch(1);
    /** Of the call whose handler waits. */
    private final CompletableFuture<RpcContext> context = new CompletableFuture<>();

    private final CompletableFuture<Status.Code> nested = new CompletableFuture<>();

    /** Waits until its caller has given up, or the test ends. */
    private final class Waiting implements Clerk {
        @Override
        public int serve(String good) {
            if (good.isEmpty()) {
                // Without a timeout of its own.
                nested.complete(codeOf(() -> rackcall.stub(Cart.class).put("nested")));
                return 0;
            }
            return untilCancelled();
        }

        private int untilCancelled() {
            RpcContext call = RpcContext.current().orElseThrow();
            call.onCancel(end::countDown);
            context.complete(call);
            Await.latch(end);
            return 1;
        }

        @Override
        public CompletableFuture<Integer> serveLater(String good) {
            return new CompletableFuture<>();
        }

        @Override
        public Stream<Integer> list() {
            RpcContext call = RpcContext.current().orElseThrow();
            return Stream.generate(() -> {
                context.complete(call);
                Await.latch(end);
                return 1;
            });
        }

        @Override
        public int count(Stream<Integer> goods) {
            context.complete(RpcContext.current().orElseThrow());
            return (int) goods.count();
        }
    }

    @RegisterExtension
    final RackcallExtension rackcall = RackcallExtension.serving(Clerk.class, Waiting::new)
            .and(Cart.class, Cart.Basket::new)
            .channel(channel -> channel.defaultTimeout(DEFAULT));

    @RegisterExtension
    final ParameterResolver contexts = new ParameterResolver() {
        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
            return parameter.getParameter().getType() == ExtensionContext.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
            return test;
        }
    };

    @AfterEach
    void endHandlers() {
        end.countDown();
    }

    private static Status.Code codeOf(Runnable call) {
        return catchThrowableOfType(RpcException.class, call::run).code();
    }

    private static Status.Code codeOf(CompletableFuture<?> future) {
        Await.until("the end of the call", future::isDone);
        return catchThrowableOfType(CompletionException.class, future::join).getCause() instanceof RpcException e
                ? e.code()
                : Status.Code.OK;
    }

    private static void assertExceeded(CompletableFuture<?> future) {
        assertThat(codeOf(future)).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    }

    private Clerk clerk() {
        return rackcall.channel(Clerk.class).stub(Clerk.class, WITHIN_AN_HOUR);
    }

    private Cart cart() {
        return rackcall.channel(Cart.class).stub(Cart.class, WITHIN_AN_HOUR);
    }

    private static void awaitHeld(CallFaults faults) {
        Await.until("the held call", () -> faults.waiting() == 1);
    }

    @Test
    void shouldEndABlockingCall(CallFaults faults) {
        faults.hold("put");
        CompletableFuture<Integer> call = Concurrently.start(() -> cart().put("tea"));
        awaitHeld(faults);
        rackcall.advanceClock(HOUR);
        assertExceeded(call);
        Await.until("its handler's end", () -> faults.waiting() == 0);
    }

    @Test
    void shouldEndTheCallOfAVirtualThread(CallFaults faults) {
        faults.hold("put");
        CompletableFuture<Integer> call = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                call.complete(cart().put("tea"));
            } catch (RpcException e) {
                call.completeExceptionally(e);
            }
        });
        awaitHeld(faults);
        rackcall.advanceClock(HOUR);
        assertExceeded(call);
    }

    @Test
    void shouldEndAnAsynchronousCall() {
        CompletableFuture<Integer> call = clerk().serveLater("tea");
        rackcall.advanceClock(HOUR);
        assertExceeded(call);
    }

    @Test
    void shouldEndCallsAtTheDefaultTimeout(CallFaults faults) {
        faults.hold("put");
        Cart cart = rackcall.stub(Cart.class);
        CompletableFuture<Integer> blocking = Concurrently.start(() -> cart.put("tea"));
        awaitHeld(faults);
        CompletableFuture<Integer> later = rackcall.stub(Clerk.class).serveLater("tea");
        rackcall.advanceClock(DEFAULT);
        assertExceeded(blocking);
        assertExceeded(later);
    }

    @Test
    void shouldEndAStream() {
        CompletableFuture<Integer> read = Concurrently.start(() -> {
            try (Stream<Integer> goods = clerk().list()) {
                return goods.findFirst().orElseThrow();
            }
        });
        Await.until("the handler's stream", context::isDone);
        rackcall.advanceClock(HOUR);
        assertExceeded(read);
    }

    @Test
    void shouldEndACallThatSendsAStream() {
        CompletableFuture<Integer> sent = Concurrently.start(() -> clerk().count(Stream.generate(() -> {
            Await.latch(end);
            return 1;
        })));
        Await.until("the handler", context::isDone);
        rackcall.advanceClock(HOUR);
        assertExceeded(sent);
    }

    @Test
    void shouldShowTheHandlerThatTheDeadlineHasPassed() {
        CompletableFuture<Integer> call = Concurrently.start(() -> clerk().serve("tea"));
        Await.until("the handler", context::isDone);
        RpcContext seen = context.join();
        Deadline deadline = seen.deadline().orElseThrow();
        assertThat(deadline.timeRemaining(TimeUnit.MINUTES)).isBetween(30L, 60L);

        rackcall.advanceClock(HOUR.minusMinutes(20));
        assertThat(deadline.timeRemaining(TimeUnit.MINUTES)).as("what is left").isBetween(10L, 20L);
        assertThat(Deadline.after(HOUR).compareTo(deadline)).isPositive();
        assertThat(deadline.isExpired() || seen.isCancelled()).isFalse();

        rackcall.advanceClock(Duration.ofMinutes(20));
        assertThat(deadline.isExpired() && seen.isCancelled()).isTrue();
        assertThat(seen.deadline().orElseThrow().timeRemaining(TimeUnit.NANOSECONDS))
                .isNegative();
        assertExceeded(call);
        // By onCancel.
        Await.latch(end);
    }

    @Test
    void shouldHideTheDefaultTimeoutFromTheHandler() {
        CompletableFuture<Integer> call =
                Concurrently.start(() -> rackcall.stub(Clerk.class).serve("tea"));
        Await.until("the handler", context::isDone);
        assertThat(context.join().deadline()).isEmpty();
        end.countDown();
        assertThat(Concurrently.get(call)).isEqualTo(1);
    }

    @Test
    void shouldEndTheCallsThatAHandlerMakes(CallFaults faults) {
        rackcall.channel(Cart.class);
        faults.hold("put");
        CompletableFuture<Integer> call = Concurrently.start(() -> clerk().serve(""));
        awaitHeld(faults);
        rackcall.advanceClock(HOUR.minusMinutes(20));
        assertThat(nested).as("the nested call, after the default timeout").isNotDone();
        rackcall.advanceClock(Duration.ofMinutes(20));
        Await.equal("the end of the nested call", Status.Code.DEADLINE_EXCEEDED, () -> nested.getNow(Status.Code.OK));
        // Its caller may get the answer that the handler then gives, or give up before.
        Await.until("the end of the handler's own call", call::isDone);
    }

    @Test
    void shouldGiveCallsTheirWholeTimeAfterwards(RpcChannel channel, CallFaults faults) {
        rackcall.advanceClock(HOUR);
        rackcall.advanceClock(HOUR);
        faults.hold("put");
        CompletableFuture<Integer> call = Concurrently.start(() -> cart().put("tea"));
        awaitHeld(faults);
        rackcall.advanceClock(HOUR.minusMinutes(20));
        faults.release("put");
        assertThat(Concurrently.get(call)).isEqualTo(1);
        // A deadline that the test makes.
        Clerk clerk = channel.stub(Clerk.class, CallOptions.DEFAULT.withDeadline(Deadline.after(HOUR)));
        CompletableFuture<Integer> later = clerk.serveLater("tea");
        rackcall.advanceClock(HOUR);
        assertExceeded(later);
    }

    @Test
    void shouldAdvanceTheClockOfOneTestOnly(ExtensionContext test) throws IOException {
        RackcallExtension other = RackcallExtension.serving(Cart.class, Cart.Basket::new);
        other.beforeEach(test);
        try {
            other.faults().hold("put");
            Cart cart = other.channel(Cart.class).stub(Cart.class, WITHIN_AN_HOUR);
            CompletableFuture<Integer> call = Concurrently.start(() -> cart.put("tea"));
            awaitHeld(other.faults());
            CompletableFuture<Integer> here = clerk().serveLater("tea");
            rackcall.advanceClock(HOUR);
            assertExceeded(here);
            assertThat(call).isNotDone();
            other.faults().release("put");
            assertThat(Concurrently.get(call)).isEqualTo(1);
        } finally {
            other.afterEach(test);
        }
    }

    /** Its deadline is a value of the system's clock on the way. */
    @Test
    void shouldServeAChannelThatHasTheSystemsClock() {
        rackcall.advanceClock(HOUR.multipliedBy(2));
        try (RpcChannel channel = RpcChannel.builder("/test/cart")
                .runtimeFolder(rackcall.folder())
                .open()) {
            assertThat(channel.stub(Cart.class, WITHIN_AN_HOUR).put("tea")).isEqualTo(1);
        }
    }

    @Test
    void shouldKeepTheSystemsClock() {
        assertThat(DeadlineClock.current()).isSameAs(DeadlineClock.SYSTEM);
        assertThatThrownBy(() -> DeadlineClock.SYSTEM.advance(HOUR)).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> rackcall.advanceClock(HOUR.negated())).isInstanceOf(IllegalArgumentException.class);
    }
}
