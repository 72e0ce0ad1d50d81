package dev.rackcall.rpc.shm.server;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.testkit.Concurrently;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** How many streams a client may leave open. */
class ServerStreamsTest {
    private static final int MOST = 256;

    private final AtomicLong now = new AtomicLong();
    private final ServerStreams streams = new ServerStreams(now::get);

    private long tickets = 100;

    private ServerStream<Integer> open(Stream<Integer> elements) {
        return streams.open(
                new ServerStream.Opener(++tickets, "Test.method", null, null, null),
                elements,
                (out, call, value) -> {},
                () -> null);
    }

    /** Closing one runs users' code, which must not keep the connection's poller from finding the others. */
    @Test
    void shouldRefuseMoreThanItMayHaveAndCloseThemWithoutALock() {
        for (int i = 0; i < MOST; i++) {
            assertThat(open(Stream.of(i))).isNotNull();
        }
        AtomicBoolean found = new AtomicBoolean();
        Stream<Integer> oneTooMany = Stream.of(1).onClose(() -> {
            // Others find their streams.
            Concurrently.run(1, thread -> found.set(streams.find(1) != null));
        });
        assertThrown(RpcException.class, () -> open(oneTooMany), "256 streams are open");
        assertThat(found).isTrue();
        streams.close(1);
        assertThat(open(Stream.of(1))).isNotNull();
        streams.closeAll();
        assertThatThrownBy(() -> open(Stream.of(1))).isInstanceOf(RpcException.class);
    }

    @Test
    void shouldEndWhatItsReaderHasLeft() {
        ServerStream<Integer> first = open(Stream.of(1));
        for (int i = 1; i < MOST; i++) {
            open(Stream.of(i)).start();
        }
        now.addAndGet(TimeUnit.SECONDS.toNanos(60));
        assertThatThrownBy(() -> open(Stream.of(1))).hasMessageContaining("256 streams are open");
        now.incrementAndGet();
        assertThat(first.isForsaken()).isTrue();
        ServerStream<Integer> next = open(Stream.of(1));
        assertThat(streams.find(first.id())).isNull();
        assertThat(streams.find(next.id())).isSameAs(next);
        assertThat(next.isForsaken()).isFalse();
    }

    @Test
    void shouldCloseStreamsWhoseOpenersNoLongerWait() {
        ServerStream<Integer> first = open(Stream.of(1));
        ServerStream<Integer> second = open(Stream.of(2));
        streams.closeOpenedBy(tickets - 1);
        assertThat(streams.find(first.id())).isNull();
        assertThat(streams.find(second.id())).isSameAs(second);
        streams.closeOpenedBy(first.id());
        assertThat(streams.find(second.id())).isSameAs(second);
    }

    /** A server that drains waits for readers, but not for those that have left. */
    @Test
    void shouldTellWhetherStreamsAreRead() {
        assertThat(streams.areRead()).isFalse();
        ServerStream<Integer> stream = open(Stream.of(1));
        assertThat(streams.areRead()).isTrue();
        now.addAndGet(TimeUnit.SECONDS.toNanos(60) + 1);
        assertThat(streams.areRead()).isFalse();
        ServerStream<Integer> next = open(Stream.of(1));
        assertThat(streams.areRead()).isTrue();
        streams.close(next.id());
        assertThat(streams.areRead()).isFalse();
        assertThat(streams.find(stream.id())).isSameAs(stream);
    }
}
