package dev.rackcall.grpc.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.grpc.wire.PipeLayout.Side;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Usage;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Ends of connections and loops that come at the wrong time. */
class PipeLoopTest {
    private final PipeLoop loop = PipeLoop.startForDevices("test-loop");

    /** A connection over a device that does nothing. */
    private final class Connected implements PipeConnection.Receiver {
        final Set<String> called = ConcurrentHashMap.newKeySet();
        volatile boolean crowded;
        /** What the loop's thread runs when it polls the connection. */
        volatile Runnable onLook = () -> {};

        final CountDownLatch closed = new CountDownLatch(1);
        final PipeConnection connection;

        Connected() {
            Carrier carrier = (Carrier) Proxy.newProxyInstance(
                    Carrier.class.getClassLoader(), new Class<?>[] {Carrier.class}, (proxy, method, arguments) -> {
                        called.add(method.getName());
                        if (method.getName().equals("isCrowded")) {
                            return crowded;
                        }
                        if (method.getName().equals("look")) {
                            onLook.run();
                        }
                        return method.getReturnType() == boolean.class ? true : null;
                    });
            connection = PipeConnection.ofCarrier(carrier, PipeMemory.create("/test"), Side.SERVER, "a test", loop);
            connection.begin(this);
        }

        @Override
        public void frame(int kind, int flags, int stream, int extra, byte[] payload) {}

        @Override
        public void credit(int stream, long consumed) {}

        @Override
        public boolean isHarmless(int stream) {
            return false;
        }

        @Override
        public void closed(String reason) {
            closed.countDown();
        }
    }

    @Test
    void shouldNotReceiveForAConnectionThatEndedBeforeItStarted() {
        try (loop) {
            Connected early = new Connected();
            early.connection.end("too early");
            early.connection.start();
            Connected later = new Connected();
            later.connection.end("in turn");
            Await.latch(later.closed);
            assertThat(early.called).doesNotContain("start");
            assertThat(early.closed.getCount()).isZero();
        }
    }

    @Test
    void shouldLeaveNoMemoryOfAConnectionThatCannotBeMade() {
        try (loop) {
            PipeMemory memory = PipeMemory.create("/test/unmade");
            assertThat(Usage.descriptors("rackcall-grpc/test/unmade")).isEqualTo(1);
            // Without credentials of the peer, no connection can be made.
            assertThatThrownBy(() -> PipeConnection.ofMemory(null, memory, Side.SERVER, null, loop))
                    .isInstanceOf(NullPointerException.class);
            assertThat(memory.memory().scope().isAlive()).isFalse();
            assertThat(Usage.descriptors("rackcall-grpc/test/unmade")).isZero();
        }
    }

    @Test
    void shouldEndAConnectionThatFailedBeforeItStarted() {
        try (loop) {
            Connected failed = new Connected();
            failed.connection.sender().fail(new IllegalStateException("no reason"));
            failed.connection.start();
            Await.latch(failed.closed);
            assertThat(failed.called).doesNotContain("start");
        }
    }

    @Test
    void shouldEndAConnectionThatStartsAfterItsLoop() {
        loop.close();
        Connected late = new Connected();
        late.connection.start();
        Await.latch(late.closed);
        assertThat(late.called).doesNotContain("start");
    }

    @Test
    void shouldNotPollAnUnusedConnectionForeverBesideABusyOne() {
        try (loop) {
            Connected busy = new Connected();
            // So the loop has work in each turn, and does not sleep.
            busy.onLook = () -> loop.wake(busy.connection);
            busy.connection.start();
            Await.until("the loop to poll", () -> busy.called.contains("look"));
            busy.called.clear();
            Connected unused = new Connected();
            unused.connection.start();
            Await.until("the loop to let the unused connection's peer ring", () -> unused.called.contains("listen"));
            assertThat(busy.called).doesNotContain("listen");
        }
    }

    /** The thread that closes it may not have begun yet. */
    @Test
    void shouldHangUpAtOnceAfterAFailureOnly() {
        try (loop) {
            Connected good = new Connected();
            good.connection.start();
            good.connection.end("enough");
            Connected failed = new Connected();
            failed.connection.start();
            failed.connection.sender().fail(new IllegalStateException("no reason"));
            Await.until("both to be closed", () -> good.called.contains("close") && failed.called.contains("hangUp"));
            assertThat(good.called).doesNotContain("hangUp");
            assertThat(failed.called).doesNotContain("close");
        }
    }

    /** A peer that makes room, while its device confirms nothing. */
    @Test
    void shouldHangUpOnAPeerForWhomItWouldWait() {
        try (loop) {
            Connected peer = new Connected();
            peer.connection.start();
            Await.until("the loop to watch it", () -> peer.called.contains("start"));
            peer.connection.sender().control(Frame.PING, 0, new byte[Long.BYTES]);
            assertThat(peer.called).contains("publish");
            peer.called.clear();
            peer.crowded = true;
            peer.connection.sender().control(Frame.PING, 0, new byte[Long.BYTES]);
            Await.latch(peer.closed);
            assertThat(peer.called).doesNotContain("publish");
        }
    }
}
