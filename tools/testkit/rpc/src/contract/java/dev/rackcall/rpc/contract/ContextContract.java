package dev.rackcall.rpc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.testkit.Await;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
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

    // ---- at the client

    /** What the client's interceptors and the handlers of their calls do, in order. */
    private final Queue<String> events = new ConcurrentLinkedQueue<>();

    private void event(String what) {
        events.add(what + " " + bound());
    }

    private void bindCaller(ClientInterceptor.Call call, Runnable next) {
        bind(call.method().name(), () -> {
            try {
                next.run();
                event("next returned");
            } catch (RpcException e) {
                event("next threw " + e.code());
                throw e;
            }
        });
    }

    /** A list that looks at its thread when it is encoded. */
    private <T> List<T> watched(List<T> values) {
        return new AbstractList<>() {
            @Override
            public T get(int index) {
                event("encoded");
                return values.get(index);
            }

            @Override
            public int size() {
                return values.size();
            }
        };
    }

    private static Echo.Parcel parcel(List<Double> sizes) {
        return new Echo.Parcel("parcel", 1, Echo.Kind.BOX, sizes, Map.of(), Optional.empty());
    }

    /** Its handlers wait for the test, or say that they have run. */
    private final class GatedEcho extends EchoService {
        final CompletableFuture<Integer> later = new CompletableFuture<>();
        final CountDownLatch notes = new CountDownLatch(1);

        @Override
        public Parcel parcel(Parcel parcel) {
            events.add("handled");
            return parcel;
        }

        @Override
        public CompletableFuture<Integer> later(int value, int millis) {
            return later.thenApply(_ -> value);
        }

        @Override
        public Stream<Integer> count(int from, int to) {
            return super.count(from, to).peek(each -> {
                if (each == from) {
                    events.add("handled");
                }
            });
        }

        @Override
        public synchronized void note(String text) {
            await(notes);
            super.note(text);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(Await.BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** What has happened since the last time; the calling thread is in no call. */
    private List<String> happened() {
        assertThat(bound()).as("the caller's thread after the call").isEqualTo("nobody/null");
        List<String> all = new ArrayList<>();
        for (String next = events.poll(); next != null; next = events.poll()) {
            all.add(next);
        }
        return all;
    }

    @Test
    void shouldRunEachKindOfCallInsideItsClientInterceptorUntilNextReturnsAsDocumented() {
        GatedEcho gated = new GatedEcho();
        serve(place(RpcServer.builder()
                .service(Echo.class, gated)
                .service(Meter.class, new MeterService())
                .dispatch(Dispatch.virtualThreads())));
        RpcChannel channel = open(place(RpcChannel.builder("/test/echo"))
                .slots(4)
                .interceptor(this::bindCaller)
                .interceptor((_, next) -> {
                    event("inner");
                    next.run();
                }));
        Echo echo = channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(Await.BOUND));
        Meter meter = channel.stub(Meter.class, CallOptions.DEFAULT.withTimeout(Await.BOUND));

        // Synchronous: until the result is decoded.
        assertThat(echo.parcel(parcel(watched(List.of(1.5)))).sizes()).containsExactly(1.5);
        assertThat(happened())
                .containsExactly(
                        "inner parcel/parcel", "encoded parcel/parcel", "handled", "next returned parcel/parcel");
        assertFails(Status.Code.NOT_FOUND, () -> echo.fail("NOT_FOUND", "none"));
        assertThat(happened()).containsExactly("inner fail/fail", "next threw NOT_FOUND fail/fail");

        // Asynchronous: until it was sent or queued, and more calls than slots do not change that.
        List<CompletableFuture<Integer>> later = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            later.add(echo.later(i, 0));
            assertThat(happened()).containsExactly("inner later/later", "next returned later/later");
        }
        assertThat(later).noneMatch(CompletableFuture::isDone);
        CompletableFuture<Void> stage = later.getLast().thenAccept(_ -> event("stage"));
        gated.later.complete(0);
        for (int i = 0; i < 6; i++) {
            assertThat(later.get(i).join()).isEqualTo(i);
        }
        stage.join();
        assertThat(happened()).containsExactly("stage nobody/null");

        // One-way: likewise.
        for (int i = 0; i < 6; i++) {
            echo.note("note " + i);
            assertThat(happened()).containsExactly("inner note/note", "next returned note/note");
        }
        gated.notes.countDown();
        Await.equal("the notes", 6, () -> echo.notes().size());
        events.clear();

        // A returned stream: until its first elements have arrived. The others are not waited for.
        try (Stream<Integer> counted = echo.count(0, Integer.MAX_VALUE)) {
            assertThat(happened()).containsExactly("inner count/count", "handled", "next returned count/count");
            assertThat(counted.peek(_ -> event("read")).limit(1).toList()).containsExactly(0);
            assertThat(happened()).containsExactly("read nobody/null");
        }

        // A sent stream: until the result has arrived, but the stream runs elsewhere.
        assertThat(meter.first(2, true, Stream.of(1, 2).peek(_ -> event("taken"))))
                .containsExactly(1, 2);
        assertThat(happened())
                .containsExactly(
                        "inner first/first", "taken nobody/null", "taken nobody/null", "next returned first/first");

        // Both: until the call was sent. The caller may then give the first element.
        CompletableFuture<Integer> first = new CompletableFuture<>();
        try (Stream<Integer> doubled =
                meter.doubled(Stream.generate(first::join).limit(1))) {
            assertThat(happened()).containsExactly("inner doubled/doubled", "next returned doubled/doubled");
            first.complete(4);
            assertThat(doubled.toList()).containsExactly(8);
        }
    }
}
