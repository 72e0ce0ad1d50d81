package dev.rackcall.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What handlers see when their client is lost. */
class LostClientTest {
    private final CountDownLatch cancelled = new CountDownLatch(1);
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final AtomicInteger received = new AtomicInteger();
    private final AtomicReference<Throwable> broken = new AtomicReference<>();

    /** Waits for the end of its caller. */
    private final class Watching implements Clerk {
        @Override
        public int serve(String good) {
            RpcContext.current().orElseThrow().onCancel(cancelled::countDown);
            begun.countDown();
            Await.latch(cancelled);
            return 1;
        }

        @Override
        public CompletableFuture<Integer> serveLater(String good) {
            return CompletableFuture.completedFuture(1);
        }

        @Override
        public Stream<Integer> list() {
            return Stream.iterate(1, last -> last + 1).onClose(closed::countDown);
        }

        @Override
        public int count(Stream<Integer> goods) {
            try {
                return (int) goods.peek(_ -> received.incrementAndGet()).count();
            } catch (RpcException e) {
                broken.set(e);
                throw e;
            }
        }
    }

    @RegisterExtension
    final RackcallExtension rackcall = RackcallExtension.serving(Clerk.class, Watching::new);

    @Test
    void shouldCancelTheHandlersCall(Clerk clerk) {
        CompletableFuture<Integer> call = Concurrently.start(() -> clerk.serve("tea"));
        Await.latch(begun);
        rackcall.loseClient();
        Await.latch(cancelled);
        assertThat(catchThrowableOfType(CompletionException.class, call::join))
                .extracting(failure -> ((RpcException) failure.getCause()).code())
                .isEqualTo(Status.Code.CANCELLED);
        assertThat(rackcall.stub(Clerk.class).serveLater("tea").join())
                .as("by a new channel")
                .isEqualTo(1);
    }

    @Test
    void shouldRefuseWithoutATest() {
        assertThatThrownBy(RackcallExtension.serving(Clerk.class, Watching::new)::loseClient)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("no test runs");
    }

    @Test
    void shouldCloseTheHandlersStream(Clerk clerk) {
        try (Stream<Integer> list = clerk.list()) {
            assertThat(list.iterator().next()).isEqualTo(1);
            rackcall.loseClient();
            Await.latch(closed);
        }
    }

    @Test
    void shouldBreakTheStreamThatTheHandlerReads(Clerk clerk) {
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<Integer> call = Concurrently.start(() -> clerk.count(Stream.iterate(1, last -> {
            if (last == 3) {
                Await.latch(end);
            }
            return last + 1;
        })));
        Await.until("the first elements", () -> received.get() >= 2);
        rackcall.loseClient();
        end.countDown();
        Await.until("the end of the handler's stream", () -> broken.get() != null);
        Await.until("the end of the call", call::isDone);
        assertThat(call).isCompletedExceptionally();
    }
}
