package dev.rackcall.rpc.balance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.HostServers;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.TestSpecs;
import dev.rackcall.testkit.Await;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls of a method that the connected servers lack, while the channel connects to one that has it. */
@Timeout(200)
class MissingMethodTest extends RpcFixture {
    @RpcService("/test/notes")
    interface Notes {
        @Rpc
        long count();
    }

    /** A later version. */
    @RpcService("/test/notes")
    interface NotesOfTomorrow {
        @Rpc
        long count();

        @Rpc
        CompletableFuture<Long> later(long value);

        @Rpc(oneWay = true)
        void save(long value);

        @Rpc(idempotent = true)
        long lost(long value);
    }

    private static final class Tomorrow implements NotesOfTomorrow {
        final AtomicLong saved = new AtomicLong();
        /** What {@link #later} was called with. */
        final List<Long> asked = new CopyOnWriteArrayList<>();

        @Override
        public long count() {
            return 2;
        }

        @Override
        public CompletableFuture<Long> later(long value) {
            asked.add(value);
            return CompletableFuture.completedFuture(-value);
        }

        @Override
        public void save(long value) {
            saved.set(value);
        }

        @Override
        public long lost(long value) {
            throw Status.Code.UNAVAILABLE.with("as if its server had ended").asException();
        }
    }

    private final Tomorrow tomorrow = new Tomorrow();
    private final List<Status.Code> told = new CopyOnWriteArrayList<>();
    private final CountDownLatch connects = new CountDownLatch(1);
    private volatile boolean connectsAtOnce = true;

    private final WatchedDefinition<NotesOfTomorrow> definition = new WatchedDefinition<>(NotesOfTomorrow.class, () -> {
        if (!connectsAtOnce) {
            Await.latch(connects);
        }
    });
    private HostBalancer balancer;

    /** A stub of the later version, whose channel has connected to a server of the earlier one. */
    private NotesOfTomorrow connected() {
        serve(Notes.class, () -> 1);
        ClientSpec spec = TestSpecs.client("/test/notes", directory);
        balancer = new HostBalancer(spec, HostServers.connectAny(spec), _ -> {});
        RoutedConnection connection = keep(new RoutedConnection(balancer));
        connection.use(definition);
        CallObserver observer = (status, _) -> told.add(status.code());
        return definition.stub(method -> connection.begin(
                method, System.nanoTime() + Await.BOUND.toNanos(), Metadata.EMPTY, Isolation.TRUSTED, observer));
    }

    /** Connecting to the later server takes until the test says so. */
    private NotesOfTomorrow whileItConnects() {
        NotesOfTomorrow notes = connected();
        connectsAtOnce = false;
        serve(NotesOfTomorrow.class, tomorrow);
        return notes;
    }

    @Test
    void shouldNotLetCallersOfAsynchronousCallsWait() {
        NotesOfTomorrow notes = whileItConnects();
        CompletableFuture<Long> answer = notes.later(3);
        assertThat(answer).isNotDone();
        notes.save(7);
        assertThat(tomorrow.saved).hasValue(0);
        assertThat(told).isEmpty();
        connects.countDown();
        assertThat(answer).succeedsWithin(Await.BOUND).isEqualTo(-3L);
        Await.equal("the saved value", 7L, tomorrow.saved::get);
        Await.equal("ends", List.of(Status.Code.OK, Status.Code.OK), () -> told);
    }

    @Test
    void shouldNotSendACallThatWasCancelledWhileItWaited() {
        NotesOfTomorrow notes = whileItConnects();
        CompletableFuture<Long> answer = notes.later(3);
        assertThat(answer.cancel(true)).isTrue();
        Await.until("the call has ended, before the channel has connected", () -> !told.isEmpty());
        assertThat(told).containsExactly(Status.Code.CANCELLED);
        connects.countDown();
        assertThat(notes.later(4)).succeedsWithin(Await.BOUND).isEqualTo(-4L);
        assertThat(tomorrow.asked).containsExactly(4L);
    }

    @Test
    void shouldEndWaitingCallsWhenTheChannelIsClosed() {
        NotesOfTomorrow notes = whileItConnects();
        CompletableFuture<Long> answer = notes.later(3);
        balancer.close();
        assertThat(answer).failsWithin(Await.BOUND).withThrowableThat().withMessageContaining("CANCELLED");
        assertFails(Status.Code.CANCELLED, () -> notes.later(4));
        connects.countDown();
    }

    @Test
    void shouldRefuseAsynchronousCallsIfManyWait() {
        NotesOfTomorrow notes = whileItConnects();
        for (int i = 0; i < WaitingCalls.MOST_CALLS; i++) {
            assertThat(notes.later(i)).isNotDone();
        }
        assertThat(notes.later(1))
                .failsWithin(Await.BOUND)
                .withThrowableThat()
                .withMessageContainingAll("RESOURCE_EXHAUSTED", "/test/notes", "1024");
        assertFails(Status.Code.RESOURCE_EXHAUSTED, () -> notes.save(1));
        connects.countDown();
        Await.equal("calls that have ended", WaitingCalls.MOST_CALLS + 2, told::size);
        assertThat(told.stream().filter(code -> code == Status.Code.OK)).hasSize(WaitingCalls.MOST_CALLS);
        assertThat(notes.later(5)).succeedsWithin(Await.BOUND).isEqualTo(-5L);
    }

    @Test
    void shouldSayThatTheServerWithTheMethodIsUnavailable() {
        NotesOfTomorrow notes = connected();
        serve(NotesOfTomorrow.class, tomorrow);
        Await.equal("servers", 2, () -> balancer.describe().size());
        for (int i = 0; i < 20; i++) {
            assertFails(Status.Code.UNAVAILABLE, () -> notes.lost(1))
                    .hasMessageContaining("as if its server had ended");
        }
    }
}
