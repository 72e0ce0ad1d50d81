package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A queued call that cannot begin in its slot, which was given back then, ends once and leaves the slot alone. */
class QueuedCallEndTest {
    private static final MethodDescriptor METHOD =
            HostileScript.service("/test/echo").methods().getFirst();

    private final List<Status> told = new ArrayList<>();
    private RuntimeException mistake = new UnsupportedOperationException("expected in this test");
    private final Slot slot = new Slot();
    private final QueuedCall call = new QueuedCall(
            new Connection(),
            new CalledService(0, new ServedInterface("dev.Echo", 1, "")),
            METHOD,
            System.nanoTime() + TimeUnit.MINUTES.toNanos(1),
            Metadata.EMPTY,
            Isolation.TRUSTED,
            (status, _) -> told.add(status));

    private void assertEndedOnce() {
        assertThat(slot.abandoned).as("another call may have the slot by now").isEmpty();
        assertThat(told).singleElement().satisfies(status -> {
            assertThat(status.code()).isEqualTo(Status.Code.INTERNAL);
        });
    }

    @Test
    void shouldEndAOneWayCallThatCannotBegin() {
        call.send(slot);
        assertEndedOnce();
    }

    @Test
    void shouldEndAnAsynchronousCallThatCannotBegin() {
        CompletableFuture<Object> future = call.invokeAsync((in, of) -> in);
        call.send(slot);
        assertThatThrownBy(() -> future.get(30, TimeUnit.SECONDS)).hasCause(mistake);
        assertEndedOnce();
    }

    /** The connection ended between the slot and the request: another server may get the call. */
    @Test
    void shouldSayThatACallThatCouldNotBeginWasNotSent() {
        mistake = Status.Code.UNAVAILABLE.with("expected in this test").asException();
        CompletableFuture<Object> future = call.invokeAsync((in, of) -> in);
        call.send(slot);
        assertThatThrownBy(() -> future.get(30, TimeUnit.SECONDS)).hasCause(mistake);
        assertThat(((ClientCall.Pending) future).wasNeverBegun()).isTrue();
    }

    /** A connection in whose slots no call can begin; it gives them back by itself. */
    private final class Connection implements QueuedCall.Over, CallQueue.Exit {
        private final CallQueue queue = new CallQueue(this);

        @Override
        public void begin(ClientCall free, QueuedCall waited) {
            throw mistake;
        }

        @Override
        public CallQueue queue() {
            return queue;
        }

        @Override
        public ClientCall claimNow() {
            return null;
        }

        @Override
        public Optional<RpcException> end() {
            return Optional.empty();
        }

        @Override
        public ClientSpec spec() {
            throw new AssertionError();
        }

        @Override
        public SentArguments newArguments() {
            throw new AssertionError();
        }

        @Override
        public void help(PolledFuture<?> future, long end) {}

        @Override
        public void queuedOrAbandoned() {}

        @Override
        public void passOverOwn() {}

        @Override
        public boolean hasEarlierThread() {
            return false;
        }

        @Override
        public void wakeThread() {}

        @Override
        public void giveBack(ClientCall free) {}

        @Override
        public void callQueued() {}
    }

    /** Nothing may be called; {@link #abandon} would be reported by the sending thread, so it is noted. */
    private static final class Slot extends ClientCall {
        private final List<Throwable> abandoned = new ArrayList<>();

        @Override
        public RuntimeException abandon(Throwable cause) {
            abandoned.add(cause);
            return (RuntimeException) cause;
        }

        @Override
        public PayloadWriter arguments() {
            throw new AssertionError();
        }

        @Override
        public long share(Object sharedObject, String argument) {
            throw new AssertionError();
        }

        @Override
        public PayloadReader invoke() {
            throw new AssertionError();
        }

        @Override
        public <T> CompletableFuture<T> invokeAsync(ResultReader<T> reader) {
            throw new AssertionError();
        }

        @Override
        public void invokeOneWay() {
            throw new AssertionError();
        }

        @Override
        public <T> void sendStream(Stream<T> elements, ElementWriter<T> writer) {
            throw new AssertionError();
        }

        @Override
        public <T> Stream<T> invokeStream(ResultReader<T> reader) {
            throw new AssertionError();
        }

        @Override
        public <T> T shared(Class<T> type, long ref) {
            throw new AssertionError();
        }

        @Override
        public RpcException rejected(PayloadException cause) {
            throw new AssertionError();
        }

        @Override
        public void close() {
            throw new AssertionError();
        }
    }
}
