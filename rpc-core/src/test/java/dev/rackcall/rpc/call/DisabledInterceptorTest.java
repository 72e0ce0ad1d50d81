package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.ServerInterceptor;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Meter;
import dev.rackcall.rpc.contract.MeterService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each call runs inside the interceptors that are enabled when it begins, and directly if none is. */
class DisabledInterceptorTest extends RpcFixture {
    private final List<String> seen = Collections.synchronizedList(new ArrayList<>());
    private final ThreadNotingEcho service = new ThreadNotingEcho();

    /** Notes on which thread it returns a stream. */
    private static final class ThreadNotingEcho extends EchoService {
        private volatile String streamThread = "";

        @Override
        public Stream<Integer> count(int from, int to) {
            streamThread = Thread.currentThread().getName();
            return super.count(from, to);
        }
    }

    /** An interceptor of both ends that a test switches on and off. */
    private final class Switched implements ClientInterceptor, ServerInterceptor {
        private final String name;
        private volatile boolean enabled;

        Switched(String name) {
            this.name = name;
        }

        @Override
        public boolean isEnabled() {
            return enabled;
        }

        @Override
        public void around(ClientInterceptor.Call call, Runnable next) {
            seen.add("client " + name + " " + call.method().name());
            next.run();
        }

        @Override
        public void around(RpcContext call, Runnable next) {
            seen.add("server " + name + " " + call.method().name());
            next.run();
        }
    }

    /** Throws when it is asked whether it is enabled. */
    private static final class Broken implements ClientInterceptor, ServerInterceptor {
        /** Null: it is disabled. */
        private volatile RuntimeException thrown;

        @Override
        public boolean isEnabled() {
            if (thrown != null) {
                throw thrown;
            }
            return false;
        }

        @Override
        public void around(ClientInterceptor.Call call, Runnable next) {
            throw new AssertionError("it is never enabled");
        }

        @Override
        public void around(RpcContext call, Runnable next) {
            throw new AssertionError("it is never enabled");
        }
    }

    private RpcServer.Builder server() {
        return serving(Echo.class, service).service(Meter.class, new MeterService());
    }

    static List<Dispatch> dispatches() {
        return List.of(Dispatch.direct(), Dispatch.workers(2), Dispatch.virtualThreads());
    }

    @ParameterizedTest
    @MethodSource("dispatches")
    void shouldRunEachKindOfCallInsideTheEnabledInterceptorsInOrder(Dispatch dispatch) {
        List<Switched> all = List.of(new Switched("a"), new Switched("b"), new Switched("c"));
        RpcServer.Builder server = server().dispatch(dispatch);
        RpcChannel.Builder builder = channel(Echo.class);
        for (Switched each : all) {
            server.interceptor(each);
            builder.interceptor(each);
        }
        serve(server);
        RpcChannel channel = open(builder);
        Echo echo = channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(Await.BOUND));
        Meter meter = channel.stub(Meter.class, CallOptions.DEFAULT.withTimeout(Await.BOUND));
        for (int mask = 0; mask < 1 << all.size(); mask++) {
            List<String> enabled = new ArrayList<>();
            for (int i = 0; i < all.size(); i++) {
                all.get(i).enabled = (mask & 1 << i) != 0;
                if (all.get(i).enabled) {
                    enabled.add(all.get(i).name);
                }
            }
            assertThat(echo.add(1, 2)).isEqualTo(3);
            assertSeen(enabled, "add");
            assertFails(Status.Code.NOT_FOUND, () -> echo.fail("NOT_FOUND", "none"));
            assertSeen(enabled, "fail");
            assertThat(echo.later(7, 0).join()).isEqualTo(7);
            assertSeen(enabled, "later");
            echo.note("one-way");
            Await.equal("notes", mask + 1, () -> service.notes().size());
            assertSeen(enabled, "note");
            assertThat(echo.count(0, 200).count()).isEqualTo(200);
            assertSeen(enabled, "count");
            // Its interceptors surround the whole stream, and so does its thread.
            assertThat(service.streamThread.equals("rackcall-stream"))
                    .as("whether the thread %s serves only this call", service.streamThread)
                    .isEqualTo(mask != 0);
            assertThat(meter.first(2, true, Stream.of(1, 2))).containsExactly(1, 2);
            assertSeen(enabled, "first");
            assertThat(meter.doubled(Stream.of(1, 2)).toList()).containsExactly(2, 4);
            assertSeen(enabled, "doubled");
        }
    }

    private void assertSeen(List<String> enabled, String method) {
        List<String> expected = Stream.of("client ", "server ")
                .flatMap(end -> enabled.stream().map(name -> end + name + " " + method))
                .toList();
        assertThat(seen).isEqualTo(expected);
        seen.clear();
    }

    @Test
    void shouldAnswerCallsOfAllKindsWhileAnInterceptorIsSwitched() {
        Switched switched = new Switched("switched");
        serve(server().interceptor(switched));
        RpcChannel channel = open(channel(Echo.class).interceptor(switched).slots(8));
        Echo echo = channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(Await.BOUND));
        Meter meter = channel.stub(Meter.class, CallOptions.DEFAULT.withTimeout(Await.BOUND));
        AtomicInteger callers = new AtomicInteger(2);
        Concurrently.run(3, thread -> {
            if (thread == 2) {
                while (callers.get() > 0) {
                    switched.enabled = !switched.enabled;
                }
                return;
            }
            try {
                for (int i = 0; i < 300; i++) {
                    assertThat(echo.add(i, thread)).isEqualTo(i + thread);
                    assertThat(echo.later(i, 0).join()).isEqualTo(i);
                    assertThat(echo.count(i, i + 3).toList()).containsExactly(i, i + 1, i + 2);
                    assertThat(meter.doubled(Stream.of(i)).toList()).containsExactly(2 * i);
                    echo.note("one-way");
                }
            } finally {
                callers.decrementAndGet();
            }
        });
        Await.equal("notes", 600, () -> service.notes().size());
    }

    @Test
    void shouldNameTheServerInterceptorThatThrowsWhenItIsAsked() {
        Broken broken = new Broken();
        // One polling thread: its successor would serve later calls beside a one-way call that the relieved thread has
        // not begun yet.
        serve(server().interceptor(broken).interceptor((_, next) -> next.run()).stuckAfter(Duration.ofMinutes(5)));
        Echo echo = connect(Echo.class);
        String[] words = {Broken.class.getName(), "IllegalStateException"};
        broken.thrown = new IllegalStateException("a mistake in the question");
        assertFails(Status.Code.INTERNAL, () -> echo.add(1, 2)).hasMessageContainingAll(words);
        assertThatThrownBy(() -> echo.later(1, 0).join()).hasMessageContainingAll(words);
        assertFails(Status.Code.INTERNAL, () -> echo.count(0, 3).toList()).hasMessageContainingAll(words);
        echo.note("one-way");
        assertFails(Status.Code.INTERNAL, echo::nothing).hasMessageContainingAll(words);
        broken.thrown = Status.Code.UNAUTHENTICATED.with("say who you are").asException();
        assertFails(Status.Code.UNAUTHENTICATED, echo::nothing);
        broken.thrown = null;
        assertThat(echo.notes()).isEmpty();
    }

    @Test
    void shouldNameTheClientInterceptorThatThrowsWhenItIsAsked() {
        serve(server());
        Broken broken = new Broken();
        List<Status.Code> told = Collections.synchronizedList(new ArrayList<>());
        Echo echo = open(channel(Echo.class).interceptor(broken).interceptor((_, next) -> next.run()))
                .stub(Echo.class, CallOptions.DEFAULT.withObserver((status, _) -> told.add(status.code())));
        String[] words = {Broken.class.getName(), "a mistake in the question"};
        broken.thrown = new IllegalStateException("a mistake in the question");
        assertFails(Status.Code.INTERNAL, () -> echo.add(1, 2)).hasMessageContainingAll(words);
        assertFails(Status.Code.INTERNAL, () -> echo.later(1, 0)).hasMessageContainingAll(words);
        assertFails(Status.Code.INTERNAL, () -> echo.count(0, 3)).hasMessageContainingAll(words);
        assertFails(Status.Code.INTERNAL, () -> echo.note("one-way")).hasMessageContainingAll(words);
        broken.thrown = Status.Code.ABORTED.with("not now").asException();
        assertFails(Status.Code.ABORTED, echo::nothing);
        broken.thrown = null;
        assertThat(echo.notes()).isEmpty();
        assertThat(told)
                .containsExactly(
                        Status.Code.INTERNAL,
                        Status.Code.INTERNAL,
                        Status.Code.INTERNAL,
                        Status.Code.INTERNAL,
                        Status.Code.ABORTED,
                        Status.Code.OK);
    }
}
