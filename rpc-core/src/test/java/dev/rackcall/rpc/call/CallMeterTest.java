package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Meter;
import dev.rackcall.rpc.contract.MeterService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A meter learns of each call's beginning and of its end, once. */
class CallMeterTest extends RpcFixture {
    /** Notes what it is told, as {@code client add begins PROCESS}. */
    private static final class Notes implements CallMeter {
        private final List<String> seen = new CopyOnWriteArrayList<>();
        private volatile boolean enabled = true;

        @Override
        public OfMethod atClient(MethodDescriptor method) {
            return noting("client " + method.name());
        }

        @Override
        public OfMethod atServer(MethodDescriptor method) {
            return noting("server " + method.name());
        }

        private OfMethod noting(String what) {
            return transport -> {
                seen.add(what + " begins " + (transport == null ? "nowhere" : transport.name()));
                return new CallObserver() {
                    @Override
                    public void onBegin(Route.Kind kind) {
                        seen.add(what + " sent " + kind.name());
                    }

                    @Override
                    public void onEnd(Status status, Metadata trailers) {
                        seen.add(what + " ends " + status.code());
                    }
                };
            };
        }

        @Override
        public boolean isEnabled() {
            return enabled;
        }

        List<String> of(String end) {
            return seen.stream().filter(each -> each.startsWith(end)).toList();
        }

        void awaitEnds(long count) {
            Await.until(
                    "the calls' ends",
                    () -> seen.stream().filter(each -> each.contains(" ends ")).count() >= count);
        }
    }

    private final Notes notes = new Notes();

    private RpcServer.Builder server() {
        return serving(Echo.class, new EchoService()).service(Meter.class, new MeterService());
    }

    private void assertSeen(String method, Status.Code code) {
        notes.awaitEnds(2);
        assertThat(notes.of("client"))
                .containsExactly(
                        "client " + method + " begins PROCESS",
                        "client " + method + " sent PROCESS",
                        "client " + method + " ends " + code);
        assertThat(notes.of("server"))
                .containsExactly("server " + method + " begins PROCESS", "server " + method + " ends " + code);
        notes.seen.clear();
    }

    @Test
    void shouldMeasureCallsOfEachKind() {
        serve(server().meter(notes));
        RpcChannel channel = open(channel(Echo.class).meter(notes));
        Echo echo = channel.stub(Echo.class);
        assertThat(echo.add(1, 2)).isEqualTo(3);
        assertSeen("add", Status.Code.OK);
        assertFails(Status.Code.NOT_FOUND, () -> echo.fail("NOT_FOUND", "none"));
        assertSeen("fail", Status.Code.NOT_FOUND);
        assertThat(echo.later(7, 0).join()).isEqualTo(7);
        assertSeen("later", Status.Code.OK);
        echo.note("one-way");
        assertSeen("note", Status.Code.OK);
        assertThat(echo.count(0, 1_000).toList()).hasSize(1_000);
        assertSeen("count", Status.Code.OK);
        assertFails(Status.Code.UNKNOWN, () -> echo.crash("it throws"));
        assertSeen("crash", Status.Code.UNKNOWN);
        Meter meter = channel.stub(Meter.class);
        assertThat(meter.doubled(Stream.of(1, 2, 3)).toList()).containsExactly(2, 4, 6);
        assertSeen("doubled", Status.Code.OK);
        assertThat(meter.taken(Stream.empty())).isZero();
        assertSeen("taken", Status.Code.OK);
    }

    @Test
    void shouldMeasureACallAroundItsInterceptors() {
        serve(server().meter(notes).interceptor((_, next) -> {
            notes.seen.add("server interceptor");
            next.run();
        }));
        RpcChannel channel = open(channel(Echo.class).meter(notes).interceptor((_, next) -> {
            notes.seen.add("client interceptor");
            next.run();
        }));
        assertThat(channel.stub(Echo.class).add(1, 2)).isEqualTo(3);
        notes.awaitEnds(2);
        assertThat(notes.of("client"))
                .containsExactly(
                        "client add begins PROCESS",
                        "client interceptor",
                        "client add sent PROCESS",
                        "client add ends OK");
        assertThat(notes.of("server"))
                .containsExactly("server add begins PROCESS", "server interceptor", "server add ends OK");
    }

    /** It has no connection yet, and so no transport. */
    @Test
    void shouldMeasureACallThatAnInterceptorRefuses() {
        serve(server());
        ClientInterceptor refusing = (_, _) -> {
            throw Status.Code.PERMISSION_DENIED.with("not today").asException();
        };
        Echo echo = open(channel(Echo.class).meter(notes).interceptor(refusing)).stub(Echo.class);
        assertFails(Status.Code.PERMISSION_DENIED, () -> echo.add(1, 2));
        assertThat(notes.of("client add ends")).containsExactly("client add ends PERMISSION_DENIED");
    }

    @Test
    void shouldMeasureACallThatFindsNoServer() {
        RpcServer server = serve(server());
        Echo echo = open(channel(Echo.class).meter(notes)).stub(Echo.class);
        assertThat(echo.add(1, 2)).isEqualTo(3);
        server.close();
        notes.seen.clear();
        assertFails(Status.Code.UNAVAILABLE, () -> echo.add(1, 2));
        // The connection that it began with may have been lost only then.
        assertThat(notes.of("client add ends")).containsExactly("client add ends UNAVAILABLE");
    }

    @Test
    void shouldTellItsObserverAndAllMeters() {
        Notes other = new Notes();
        serve(server().meter(notes).meter(other));
        List<Status> told = new CopyOnWriteArrayList<>();
        Echo echo = open(channel(Echo.class).meter(notes).meter(other))
                .stub(Echo.class, CallOptions.DEFAULT.withObserver((status, _) -> told.add(status)));
        CompletableFuture<Integer> later = echo.later(7, 0);
        assertThat(later.join()).isEqualTo(7);
        notes.awaitEnds(2);
        other.awaitEnds(2);
        assertThat(notes.seen).containsExactlyInAnyOrderElementsOf(other.seen).hasSize(5);
        assertThat(told).containsExactly(Status.OK);
    }

    @Test
    void shouldMeasureOnlyWhileItIsEnabled() {
        serve(server().meter(notes));
        Echo echo = open(channel(Echo.class).meter(notes)).stub(Echo.class);
        notes.enabled = false;
        assertThat(echo.add(1, 2)).isEqualTo(3);
        assertThat(notes.seen).isEmpty();
        notes.enabled = true;
        assertThat(echo.add(1, 2)).isEqualTo(3);
        assertSeen("add", Status.Code.OK);
    }

    /** A mistake in a meter must not end calls, nor keep the call from another meter. */
    @Test
    void shouldGoOnWhenAMeterThrows() {
        CallMeter broken = new CallMeter() {
            @Override
            public OfMethod atClient(MethodDescriptor method) {
                return _ -> {
                    throw new IllegalStateException("a mistake in the meter");
                };
            }

            @Override
            public OfMethod atServer(MethodDescriptor method) {
                return _ -> (_, _) -> {
                    throw new IllegalStateException("a mistake in the observer");
                };
            }
        };
        serve(server().meter(broken).meter(notes));
        Echo echo = open(channel(Echo.class).meter(broken).meter(notes)).stub(Echo.class);
        assertThat(echo.add(1, 2)).isEqualTo(3);
        assertSeen("add", Status.Code.OK);
    }

    @Test
    void shouldGoOnWhenAMeterReturnsNothingOrCannotSayWhetherItIsEnabled() {
        CallMeter empty = meter(_ -> null);
        CallMeter torn = new CallMeter() {
            @Override
            public OfMethod atClient(MethodDescriptor method) {
                return _ -> CallObserver.NONE;
            }

            @Override
            public OfMethod atServer(MethodDescriptor method) {
                return _ -> CallObserver.NONE;
            }

            @Override
            public boolean isEnabled() {
                throw new IllegalStateException("a mistake in the meter");
            }
        };
        serve(server().meter(empty).meter(torn).meter(notes));
        Echo echo =
                open(channel(Echo.class).meter(empty).meter(torn).meter(notes)).stub(Echo.class);
        assertThat(echo.add(1, 2)).isEqualTo(3);
        assertSeen("add", Status.Code.OK);
        assertThat(echo.later(7, 0).join()).isEqualTo(7);
        assertSeen("later", Status.Code.OK);
    }

    private static CallMeter meter(CallMeter.OfMethod all) {
        return new CallMeter() {
            @Override
            public OfMethod atClient(MethodDescriptor method) {
                return all;
            }

            @Override
            public OfMethod atServer(MethodDescriptor method) {
                return all;
            }
        };
    }

    @Test
    void shouldMeasureACallWhoseClientHasGone() {
        serve(server().meter(notes));
        RpcChannel channel = open(channel(Echo.class).meter(notes));
        Echo echo = channel.stub(Echo.class);
        CompletableFuture<Status.Code> blocked =
                Concurrently.start(() -> codeOf(() -> echo.block(Await.BOUND.toMillis())));
        Await.until("the handler runs", () -> !notes.of("server block begins").isEmpty());
        channel.close();
        assertThat(Concurrently.get(blocked)).isEqualTo(Status.Code.CANCELLED);
        notes.awaitEnds(2);
        assertThat(notes.of("client block ends")).containsExactly("client block ends CANCELLED");
        assertThat(notes.of("server block ends")).containsExactly("server block ends CANCELLED");
    }
}
