package dev.rackcall.rpc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.testkit.Await;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What interceptors bind to a thread, around calls of every kind, over every transport. */
public abstract class ContextContract extends StreamContract {
    /** More than a request of a stream carries. */
    private static final int ELEMENTS = 200;

    private static final ScopedValue<String> USER = ScopedValue.newInstance();
    private static final ThreadLocal<String> LOCAL = new ThreadLocal<>();

    /** What is bound to this thread. */
    private static String bound() {
        return USER.orElse("nobody") + "/" + LOCAL.get();
    }

    private static String both(String user) {
        return user + "/" + user;
    }

    private static void bind(String user, Runnable next) {
        LOCAL.set(user);
        try {
            ScopedValue.where(USER, user).run(next);
        } finally {
            LOCAL.remove();
        }
    }

    private static CallOptions as(String user) {
        return CallOptions.DEFAULT.withTimeout(Await.BOUND).withHeaders(Metadata.of("who", user));
    }

    // ---- at the server

    private static void bindUser(RpcContext call, Runnable next) {
        call.headers().text("who").ifPresentOrElse(user -> bind(user, next), next);
        call.addTrailers(Metadata.of("after", call.method().name()));
    }

    /** Its answers are what its handlers find bound. */
    private static final class BoundMeter extends MeterService {
        @Override
        public Summary record(String who, Stream<Reading> readings) {
            Set<String> seen = new TreeSet<>(Set.of(bound()));
            int count = 0;
            for (Iterator<Reading> each = readings.iterator(); each.hasNext(); count++) {
                each.next();
                seen.add(bound());
            }
            seen.add(bound());
            addTrailer("" + count);
            return new Summary(count, seen.size(), String.join(", ", seen));
        }

        @Override
        public Stream<String> greet(String greeting, Stream<String> names) {
            String here = bound();
            addTrailer(greeting);
            return Stream.concat(Stream.of(here), names.map(_ -> bound()));
        }

        private static void addTrailer(String value) {
            RpcContext.current().orElseThrow().addTrailers(Metadata.of("handler", value));
        }
    }

    private static final class BoundEcho extends EchoService {
        @Override
        public synchronized void note(String text) {
            super.note(text + " " + bound());
        }

        @Override
        public String header(String key) {
            return bound();
        }
    }

    static List<Dispatch> dispatches() {
        return List.of(Dispatch.direct(), Dispatch.workers(2), Dispatch.virtualThreads());
    }

    private static Stream<Meter.Reading> readings() {
        return IntStream.range(0, ELEMENTS).mapToObj(i -> new Meter.Reading("here", i));
    }

    private static Stream<String> names() {
        return IntStream.range(0, ELEMENTS).mapToObj(i -> "name " + i);
    }

    @ParameterizedTest
    @MethodSource("dispatches")
    void shouldRunHandlersOfSentStreamsAndOneWayCallsInsideTheirInterceptor(Dispatch dispatch) {
        serve(place(RpcServer.builder()
                .service(Meter.class, new BoundMeter())
                .service(Echo.class, new BoundEcho())
                .dispatch(dispatch)
                .interceptor(ContextContract::bindUser)));
        RpcChannel channel = open(place(RpcChannel.builder("/test/meter")));
        Echo nobody = channel.stub(Echo.class);
        Queue<String> ended = new ConcurrentLinkedQueue<>();
        Set<String> noted = new TreeSet<>();
        for (int i = 1; i <= 3; i++) {
            String user = "user " + i;
            CallOptions options = as(user);
            Meter meter = channel.stub(
                    Meter.class,
                    options.withObserver((status, trailers) -> ended.add(status.code() + " "
                            + trailers.text("handler").orElse("") + " "
                            + trailers.text("after").orElse(""))));
            Echo echo = channel.stub(Echo.class, options);
            echo.note("one-way");
            noted.add("one-way " + both(user));
            assertThat(nobody.header("")).isEqualTo("nobody/null");
            assertThat(meter.record("", readings())).isEqualTo(new Meter.Summary(ELEMENTS, 1, both(user)));
            try (Stream<String> greetings = meter.greet("hello", names())) {
                Iterator<String> each = greetings.iterator();
                // The handler of the stream is under way.
                assertThat(each.next()).isEqualTo(both(user));
                assertThat(nobody.header("")).isEqualTo("nobody/null");
                for (int j = 0; j < ELEMENTS; j++) {
                    assertThat(each.next()).isEqualTo(both(user));
                }
                assertThat(each.hasNext()).isFalse();
            }
            Await.equal(
                    "ended calls", List.of("OK " + ELEMENTS + " record", "OK hello greet"), () -> List.copyOf(ended));
            ended.clear();
        }
        nobody.note("one-way");
        noted.add("one-way nobody/null");
        Await.equal("the notes", noted, () -> new TreeSet<>(nobody.notes()));
        assertThat(channel.stub(Meter.class, as("last")).record("", readings()).last())
                .isEqualTo(both("last"));
    }

    @Test
    void shouldNameTheInterceptorThatThrewAroundASentStreamOrAOneWayCall() {
        Queue<Status> ends = new ConcurrentLinkedQueue<>();
        serve(place(RpcServer.builder()
                .service(Meter.class, new MeterService())
                .service(Echo.class, new EchoService())
                .interceptor((call, next) -> {
                    call.onEnd((status, _) -> ends.add(status));
                    next.run();
                })
                .interceptor((call, next) -> {
                    if (call.headers().text("before").isPresent()) {
                        throw new IllegalStateException("a mistake before the handler");
                    }
                    next.run();
                    if (call.headers().text("after").isPresent()) {
                        throw new IllegalStateException("a mistake after the handler");
                    }
                })));
        RpcChannel channel = open(place(RpcChannel.builder("/test/meter")));
        String name = ContextContract.class.getName();
        for (String when : List.of("before", "after")) {
            CallOptions options = CallOptions.DEFAULT.withTimeout(Await.BOUND).withHeaders(Metadata.of(when, "yes"));
            Meter meter = channel.stub(Meter.class, options);
            AtomicBoolean closed = new AtomicBoolean();
            assertFails(Status.Code.INTERNAL, () -> meter.record("", readings().onClose(() -> closed.set(true))))
                    .hasMessageContainingAll("/test/meter/record", "interceptor " + name, "IllegalStateException");
            Await.until("the caller's stream is closed", closed::get);
            AtomicBoolean closedToo = new AtomicBoolean();
            try (Stream<Integer> doubled = meter.doubled(Stream.of(1, 2).onClose(() -> closedToo.set(true)))) {
                assertFails(Status.Code.INTERNAL, doubled::toList)
                        .hasMessageContainingAll("/test/meter/doubled", "interceptor " + name, "IllegalStateException");
            }
            Await.until("the other stream is closed", closedToo::get);
            channel.stub(Echo.class, options).note("one-way");
            Await.equal("calls that ended", 3, ends::size);
            assertThat(ends).allSatisfy(end -> {
                assertThat(end.code()).isEqualTo(Status.Code.INTERNAL);
                assertThat(end.description()).contains("interceptor " + name, "IllegalStateException");
            });
            ends.clear();
        }
        assertThat(channel.stub(Echo.class).notes()).containsExactly("one-way");
        assertThat(channel.stub(Meter.class).add(1, 2)).isEqualTo(3);
    }
}
