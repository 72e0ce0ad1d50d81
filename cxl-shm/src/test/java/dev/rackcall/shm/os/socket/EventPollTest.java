package dev.rackcall.shm.os.socket;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.testkit.ChildJvm;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EventPollTest {
    private static final long SOON = TimeUnit.SECONDS.toNanos(100);

    @Test
    void shouldReportTheSocketThatRings() {
        UnixSocket.Pair one = UnixSocket.pair();
        UnixSocket.Pair two = UnixSocket.pair();
        try (EventPoll poll = EventPoll.create()) {
            poll.add(one.right().fd(), 11);
            poll.add(two.right().fd(), 22);
            assertThat(poll.await(0)).isZero();

            two.left().ring();
            assertThat(poll.await(SOON)).isEqualTo(1);
            assertThat(poll.tag(0)).isEqualTo(22);
            assertThat(poll.hangup(0)).isFalse();
            two.right().drain();
            assertThat(poll.await(1)).isZero();

            one.left().close();
            assertThat(poll.await(SOON)).isEqualTo(1);
            assertThat(poll.tag(0)).isEqualTo(11);
            assertThat(poll.hangup(0)).isTrue();

            poll.remove(one.right().fd());
            poll.remove(one.right().fd());
            assertThat(poll.await(0)).isZero();
        } finally {
            one.right().close();
            two.left().close();
            two.right().close();
        }
    }

    @Test
    void shouldBeWokenByAnotherThreadAndRememberIt() throws Exception {
        try (EventPoll poll = EventPoll.create()) {
            poll.wakeUp();
            poll.wakeUp();
            assertThat(poll.await(TimeUnit.MINUTES.toNanos(5))).isZero();
            assertThat(poll.await(0)).isZero();

            CompletableFuture<Integer> waiting =
                    CompletableFuture.supplyAsync(() -> poll.await(TimeUnit.MINUTES.toNanos(5)));
            poll.wakeUp();
            assertThat(waiting.get(100, TimeUnit.SECONDS)).isZero();
        }
    }

    /** Otherwise a server in such a container would report that it serves, but serve no client. */
    @Test
    void shouldWaitWhereAFilterForbidsNanosecondWaits() {
        assertThat(ChildJvm.of(RefusedWait.class).run().output().strip()).isEqualTo("0 1 7 false");
    }

    /** The number may by then be that of another file. */
    @Test
    void shouldNotWatchAClosedSocket() {
        UnixSocket.Pair pair = UnixSocket.pair();
        try (EventPoll poll = EventPoll.create()) {
            assertThat(pair.right().watch(poll, 1)).isTrue();
            pair.right().close();
            pair.right().unwatch(poll);
            assertThat(pair.right().watch(poll, 2)).isFalse();
            pair.left().close();
            assertThat(poll.await(0)).isZero();
        }
    }

    @Test
    void shouldRefuseUnboundedWaitsAndUseAfterClose() {
        EventPoll poll = EventPoll.create();
        assertThrown(IllegalArgumentException.class, () -> poll.await(-1), "bound");
        assertThatThrownBy(() -> poll.add(0, -1)).isInstanceOf(IllegalArgumentException.class);
        poll.close();
        poll.close();
        poll.wakeUp();
        assertThatThrownBy(() -> poll.await(0)).isInstanceOf(IllegalStateException.class);
    }
}
