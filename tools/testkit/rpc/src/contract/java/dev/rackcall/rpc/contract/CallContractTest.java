package dev.rackcall.rpc.contract;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Deadline;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.ServerInterceptor;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract of every transport, for each kind of dispatch and waiting. */
public class CallContractTest extends ContextContract {
    /** Calls of each of six concurrent threads. */
    private static final int CALLS = Integer.getInteger("rackcall.contract.calls", 200);

    /**
     * Where the order of calls counts: a handler that gets no processor for a while would be relieved, and later calls
     * would overtake it.
     */
    private static final Duration NEVER_STUCK = Duration.ofMinutes(5);

    private final EchoService service = new EchoService();

    /** Places the server; subclasses override it to test other transports. */
    @Override
    protected RpcServer.Builder place(RpcServer.Builder server) {
        return server.runtimeFolder(directory);
    }

    /** As {@link #place(RpcServer.Builder)}. */
    @Override
    protected RpcChannel.Builder place(RpcChannel.Builder channel) {
        // Five seconds are too short for an emulated processor that first loads the classes of a transport.
        return channel.runtimeFolder(directory).connectTimeout(Await.BOUND);
    }

    /** The part of the error message that names where servers were searched. */
    protected String whereToLook() {
        return "RACKCALL_DIR";
    }

    public record Mode(Dispatch dispatch, WaitStrategy waiting) {}

    public static List<Mode> modes() {
        return List.of(
                new Mode(Dispatch.direct(), WaitStrategy.adaptive()),
                new Mode(Dispatch.workers(2), WaitStrategy.adaptive()),
                new Mode(Dispatch.virtualThreads(), WaitStrategy.adaptive()),
                new Mode(Dispatch.direct(), WaitStrategy.blocking()),
                new Mode(Dispatch.workers(2), WaitStrategy.blocking()));
    }

    private RpcServer serve(Mode mode, ServerInterceptor... interceptors) {
        RpcServer.Builder builder = RpcServer.builder()
                .service(Echo.class, service)
                .dispatch(mode.dispatch())
                .waiting(mode.waiting());
        Stream.of(interceptors).forEach(builder::interceptor);
        return serve(place(builder));
    }

    private RpcChannel.Builder channel(Mode mode) {
        return place(RpcChannel.builder("/test/echo")).waiting(mode.waiting());
    }

    private Echo connect(Mode mode) {
        serve(mode);
        return stub(channel(mode).open());
    }

    private Echo stub(RpcChannel channel) {
        return keep(channel).stub(Echo.class);
    }

    private static Mode plain() {
        return modes().getFirst();
    }

    @AfterEach
    @Override
    protected void closeAll() throws Exception {
        super.closeAll();
        assertThat(directory.toFile().list()).as("what the server left behind").isNullOrEmpty();
    }

    // ---- values and styles

    @ParameterizedTest
    @MethodSource("modes")
    void shouldCarryValuesOfAllSizes(Mode mode) {
        Echo echo = connect(mode);
        echo.nothing();
        assertThat(echo.add(40, 2)).isEqualTo(42);
        Random random = new Random(7);
        for (int size : new int[] {0, 1, 80, 84, 85, 100, 4096, 70_000, 3_000_000}) {
            byte[] value = new byte[size];
            random.nextBytes(value);
            assertThat(echo.bytes(value)).as("%d bytes", size).isEqualTo(value);
        }
        Echo.Parcel parcel = new Echo.Parcel(
                "größe", 3, Echo.Kind.BOX, List.of(1.5, 2.5), Map.of("a", 1L, "b", 2L), Optional.of("note"));
        assertThat(echo.parcel(parcel)).isEqualTo(parcel);
    }

    @ParameterizedTest
    @MethodSource("modes")
    void shouldCompleteFuturesInAnyOrder(Mode mode) {
        Echo echo = connect(mode);
        CompletableFuture<Integer> slow = echo.later(1, 60);
        CompletableFuture<Integer> fast = echo.later(2, 1);
        assertThat(fast.join()).isEqualTo(2);
        assertThat(slow.join()).isEqualTo(1);
        CompletableFuture<Integer> chained = echo.later(3, 5).thenApply(value -> value + (int) echo.add(1, 1));
        assertThat(chained.join()).isEqualTo(5);
    }

    @ParameterizedTest
    @MethodSource("modes")
    void shouldCompleteFuturesWithoutWaiters(Mode mode) throws Exception {
        Echo echo = connect(mode);
        CompletableFuture<Integer> told = new CompletableFuture<>();
        CompletableFuture<Void> callback = echo.later(9, 10).thenAccept(told::complete);
        assertThat(told.get(Await.BOUND.toSeconds(), TimeUnit.SECONDS)).isEqualTo(9);
        assertThat(callback).succeedsWithin(Await.BOUND);
    }

    @ParameterizedTest
    @MethodSource("modes")
    void shouldDeliverOneWayCallsInOrder(Mode mode) {
        serve(place(RpcServer.builder()
                .service(Echo.class, service)
                .dispatch(mode.dispatch())
                .waiting(mode.waiting())
                .stuckAfter(NEVER_STUCK)));
        Echo echo = stub(channel(mode).open());
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            echo.note("note " + i);
            expected.add("note " + i);
        }
        if (mode.dispatch().kind() == Dispatch.Kind.DIRECT) {
            assertThat(echo.notes()).isEqualTo(expected);
        } else {
            Await.equal("the notes", new TreeSet<>(expected), () -> new TreeSet<>(echo.notes()));
            assertThat(echo.notes()).hasSameSizeAs(expected);
        }
    }

    @ParameterizedTest
    @MethodSource("modes")
    void shouldStreamOnlyAsFarAsTheClientReads(Mode mode) {
        Echo echo = connect(mode);
        try (Stream<Integer> all = echo.count(0, 1000)) {
            assertThat(all.toList()).hasSize(1000).startsWith(0, 1, 2).endsWith(999);
        }
        try (Stream<Integer> none = echo.count(5, 5)) {
            assertThat(none).isEmpty();
        }
        try (Stream<Integer> endless = echo.count(0, Integer.MAX_VALUE)) {
            assertThat(endless.limit(10).toList()).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        }
        await(() -> service.closedStreams.get() == 3);
    }

    @ParameterizedTest
    @MethodSource("modes")
    void shouldEndAStreamWithItsFailure(Mode mode) {
        Echo echo = connect(mode);
        List<String> seen = new ArrayList<>();
        assertThrown(
                RpcException.class,
                () -> {
                    try (Stream<String> stream = echo.failAfter(3)) {
                        stream.forEach(seen::add);
                    }
                },
                "ABORTED: after 3 elements");
        assertThat(seen).containsExactly("element 0", "element 1", "element 2");
    }

    @ParameterizedTest
    @MethodSource("modes")
    void shouldServeManyThreadsAndChannelsAtOnce(Mode mode) throws Exception {
        serve(mode);
        List<Echo> stubs = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            stubs.add(stub(channel(mode).slots(16).open()));
        }
        Concurrently.run(6, thread -> {
            Echo echo = stubs.get(thread % stubs.size());
            long base = thread * 1_000_000L;
            for (long i = 0; i < CALLS; i++) {
                assertThat(echo.add(base, i)).isEqualTo(base + i);
            }
        });
    }

    @ParameterizedTest
    @MethodSource("modes")
    void shouldNotPinVirtualThreads(Mode mode) throws Exception {
        Echo echo = connect(mode);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Boolean>> blocked = new ArrayList<>();
            for (int i = 0; i < 40 && mode.dispatch().kind() == Dispatch.Kind.VIRTUAL_THREADS; i++) {
                blocked.add(threads.submit(() -> echo.block(50)));
            }
            Future<Long> sum = threads.submit(() -> echo.add(1, 2));
            assertThat(sum.get(20, TimeUnit.SECONDS)).isEqualTo(3);
            for (Future<Boolean> each : blocked) {
                assertThat(each.get(20, TimeUnit.SECONDS)).isFalse();
            }
        }
    }

    // ---- failures

    @ParameterizedTest
    @MethodSource("modes")
    void shouldTellTheCallerWhatTheHandlerThrew(Mode mode) {
        Echo echo = connect(mode);
        RpcException e =
                catchThrowableOfType(RpcException.class, () -> echo.fail("PERMISSION_DENIED", "x".repeat(500)));
        assertThat(e.code()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(e.status().description()).isEqualTo("x".repeat(500));
        assertThat(e.trailers().text("detail")).contains("why");
        assertThat(e.trailers().bytes("raw-bin").orElseThrow()).containsExactly(7);
        assertFails(Status.Code.UNKNOWN, () -> echo.crash("secret detail"))
                .hasMessageContaining("IllegalStateException")
                .hasMessageNotContaining("secret");
        assertThat(echo.add(1, 1)).isEqualTo(2);
    }

    @Test
    void shouldRefuseNullsAtTheCaller() {
        Echo echo = connect(plain());
        assertThrown(RpcException.class, () -> echo.bytes(null), "INVALID_ARGUMENT", "value");
        assertThatThrownBy(() -> echo.note(null)).isInstanceOf(RpcException.class);
        assertThat(echo.add(1, 1)).isEqualTo(2);
    }

    @ParameterizedTest
    @MethodSource("modes")
    void shouldGiveUpAtTheDeadlineAndTellTheHandler(Mode mode) {
        serve(mode);
        RpcChannel channel = open(channel(mode));
        Echo hurried = channel.stub(Echo.class, within(Duration.ofMillis(100)));
        do {
            assertThat(codeOf(() -> hurried.block(30_000))).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
            // On a busy machine the deadline may pass before the handler has begun.
        } while (service.blocking.get() == 0);
        Echo patient = channel.stub(Echo.class);
        assertThat(patient.add(2, 2)).isEqualTo(4);
        await(() -> service.cancelled.get() == service.blocking.get());
        CompletableFuture<Integer> late = hurried.later(1, 5_000);
        assertThatThrownBy(late::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(RpcException.class)
                .hasMessageContaining("DEADLINE_EXCEEDED");
    }

    @Test
    void shouldPassTheDeadlineOn() {
        serve(plain());
        RpcChannel channel = open(channel(plain()));
        assertThat(channel.stub(Echo.class, within(Duration.ofSeconds(20))).remainingMillis())
                .isBetween(0L, 20_000L);
        assertThat(channel.stub(Echo.class).remainingMillis()).isGreaterThan(20_000L);
        Echo expired =
                channel.stub(Echo.class, CallOptions.DEFAULT.withDeadline(Deadline.after(Duration.ofMillis(-5))));
        assertThatThrownBy(expired::remainingMillis)
                .hasMessageStartingWith("DEADLINE_EXCEEDED")
                .hasMessageContaining("deadline had passed");
    }

    @ParameterizedTest
    @MethodSource("modes")
    void shouldCancelACallWhoseFutureIsCancelled(Mode mode) {
        Echo echo = connect(mode);
        CompletableFuture<Integer> future = echo.later(1, 30_000);
        assertThat(future.cancel(true)).isTrue();
        assertThatThrownBy(future::join).isInstanceOf(CancellationException.class);
        assertThat(echo.add(1, 1)).isEqualTo(2);
    }

    @Test
    void shouldServeOtherCallsBesideStuckHandlers() throws Exception {
        Echo echo = connect(plain());
        RpcChannel beside = open(channel(plain()));
        Echo blocking = beside.stub(Echo.class);
        List<CompletableFuture<Status.Code>> stuck = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            stuck.add(Concurrently.start(() -> codeOf(() -> blocking.block(40_000))));
        }
        await(() -> service.blocking.get() == 3);
        for (int i = 0; i < 200; i++) {
            assertThat(echo.add(i, 1)).isEqualTo(i + 1);
        }
        assertThat(stuck).noneMatch(Future::isDone);
        beside.close();
        for (Future<Status.Code> each : stuck) {
            assertThat(each.get(20, TimeUnit.SECONDS)).isEqualTo(Status.Code.CANCELLED);
        }
    }

    @Test
    void shouldSkipTakenSlotsAndReportWhenAllAreTaken() {
        Mode mode = new Mode(Dispatch.virtualThreads(), WaitStrategy.adaptive());
        CompletableFuture<Integer> answer = new CompletableFuture<>();
        EchoService holding = new EchoService() {
            @Override
            public CompletableFuture<Integer> later(int value, int millis) {
                return answer.thenApply(ignored -> value);
            }
        };
        serve(place(RpcServer.builder().service(Echo.class, holding).dispatch(mode.dispatch())));
        RpcChannel channel = open(channel(mode).slots(4));
        Echo echo = channel.stub(Echo.class);
        Echo hurried = channel.stub(Echo.class, within(Duration.ofMillis(50)));
        List<CompletableFuture<Integer>> running = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            running.add(echo.later(i, 0));
        }
        for (int i = 0; i < 50; i++) {
            assertThat(echo.add(i, 1)).isEqualTo(i + 1);
        }
        running.add(echo.later(3, 0));
        RpcException full;
        do {
            full = catchThrowableOfType(RpcException.class, () -> hurried.add(1, 1));
            // On a busy machine the deadline may pass before the search for a slot.
        } while (full.code() == Status.Code.DEADLINE_EXCEEDED);
        assertThat(full.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(full).hasMessageContaining("all 4 slots");
        answer.complete(0);
        for (int i = 0; i < 4; i++) {
            assertThat(running.get(i).join()).isEqualTo(i);
        }
        assertThat(echo.add(1, 1)).isEqualTo(2);
    }

    @Test
    void shouldRefuseArgumentsLargerThanTheArena() {
        serve(plain());
        Echo echo = stub(channel(plain()).arenaQuota(1 << 20).open());
        assertFails(Status.Code.RESOURCE_EXHAUSTED, () -> echo.bytes(new byte[4 << 20]))
                .hasMessageContainingAll("is full", "close scopes", "larger arenaQuota");
        assertThat(echo.bytes(new byte[1000])).hasSize(1000);
    }

    /** If both sides spin, neither wakes the other: each polls for answers, deadlines and ends. */
    @Test
    void shouldServeWhereBothSidesSpin() {
        Mode spinning = new Mode(Dispatch.direct(), WaitStrategy.busySpin());
        RpcServer server = serve(spinning);
        RpcChannel channel = channel(spinning).open();
        Echo echo = stub(channel);
        for (int i = 0; i < 100; i++) {
            assertThat(echo.add(i, 1)).isEqualTo(i + 1);
        }
        byte[] bytes = new byte[300_000];
        new Random(3).nextBytes(bytes);
        assertThat(echo.bytes(bytes)).isEqualTo(bytes);
        assertThat(echo.later(5, 10).join()).isEqualTo(5);
        Echo hurried = channel.stub(Echo.class, within(Duration.ofMillis(100)));
        assertThat(codeOf(() -> hurried.block(30_000))).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        assertThat(echo.add(1, 1)).isEqualTo(2);
        await(() -> service.cancelled.get() == service.blocking.get());
        assertThat(server.shutdown(Await.BOUND)).isTrue();
        assertThat(codeOf(() -> echo.add(1, 1))).isEqualTo(Status.Code.UNAVAILABLE);
    }

    // ---- metadata and interceptors

    @Test
    void shouldCarryHeadersAndShowThemToInterceptors() {
        List<String> seen = Collections.synchronizedList(new ArrayList<>());
        serve(plain(), (call, next) -> {
            seen.add("server " + call.method().name() + " "
                    + call.headers().text("who").orElse("-"));
            if (call.headers().text("who").isEmpty()) {
                throw Status.Code.UNAUTHENTICATED.with("say who you are").asException();
            }
            call.onEnd((status, trailers) -> seen.add("server end " + status.code()));
            next.run();
        });
        RpcChannel anonymous = open(channel(plain()));
        assertThat(codeOf(() -> anonymous.stub(Echo.class).nothing())).isEqualTo(Status.Code.UNAUTHENTICATED);
        RpcChannel named = open(channel(plain()).interceptor((call, next) -> {
            call.addHeaders(Metadata.of("who", "ann"));
            call.onEnd((status, trailers) -> seen.add("client end " + status.code()));
            next.run();
        }));
        assertThat(named.stub(Echo.class).header("who")).isEqualTo("ann");
        assertThat(codeOf(() -> named.stub(Echo.class).fail("NOT_FOUND", ""))).isEqualTo(Status.Code.NOT_FOUND);
        await(() -> seen.size() >= 7);
        assertThat(seen)
                .contains(
                        "server nothing -",
                        "server header ann",
                        "server end OK",
                        "client end OK",
                        "server fail ann",
                        "server end NOT_FOUND",
                        "client end NOT_FOUND");
    }

    /** A synchronous and an asynchronous call, and a stream: both ends name the same transport. */
    @Test
    void shouldTellBothEndsHowCallsTravel() {
        Queue<Route.Kind> served = new ConcurrentLinkedQueue<>();
        Queue<Route.Kind> called = new ConcurrentLinkedQueue<>();
        serve(plain(), (call, next) -> {
            served.add(call.transport());
            next.run();
        });
        Echo echo = open(channel(plain())).stub(Echo.class, CallOptions.DEFAULT.withObserver(new CallObserver() {
            @Override
            public void onBegin(Route.Kind transport) {
                called.add(transport);
            }

            @Override
            public void onEnd(Status status, Metadata trailers) {
                // Its beginning counts.
            }
        }));
        echo.nothing();
        assertThat(called).as("before the call has returned").hasSize(1);
        echo.later(1, 0).join();
        assertThat(echo.count(0, 3).toList()).hasSize(3);
        await(() -> served.size() == 3);
        assertThat(List.copyOf(called)).isEqualTo(List.copyOf(served));
        assertThat(Set.copyOf(called)).hasSize(1);
    }

    /** The user of a call, as an interceptor binds it for the handler. */
    private static final ScopedValue<String> USER = ScopedValue.newInstance();

    private static final ThreadLocal<String> LOCAL = new ThreadLocal<>();

    /** Returns the caller, as its interceptor has bound it to the thread. */
    private static final class WhoService extends EchoService {
        private static String who() {
            return USER.orElse("nobody") + "/" + LOCAL.get();
        }

        @Override
        public String header(String key) {
            return who();
        }

        @Override
        public CompletableFuture<Integer> later(int value, int millis) {
            return super.later(who().equals("user " + value + "/user " + value) ? value : -1, millis);
        }

        @Override
        public Stream<Integer> count(int from, int to) {
            String expected = "user " + from + "/user " + from;
            return super.count(from, to).map(each -> who().equals(expected) ? each : -1);
        }
    }

    private static void bindUser(RpcContext call, Runnable next) {
        String user = call.headers().text("who").orElse(null);
        if (user == null) {
            next.run();
            return;
        }
        LOCAL.set(user);
        try {
            ScopedValue.where(USER, user).run(next);
        } finally {
            LOCAL.remove();
        }
    }

    @ParameterizedTest
    @MethodSource("modes")
    void shouldRunTheWholeHandlerInsideItsInterceptorAndNoOtherCall(Mode mode) {
        serve(place(RpcServer.builder()
                .service(Echo.class, new WhoService())
                .dispatch(mode.dispatch())
                .waiting(mode.waiting())
                .interceptor(CallContractTest::bindUser)));
        Echo nobody = stub(channel(mode).open());
        RpcChannel channel = open(channel(mode));
        for (int i = 1; i <= 20; i++) {
            Echo user = channel.stub(Echo.class, CallOptions.DEFAULT.withHeaders(Metadata.of("who", "user " + i)));
            CompletableFuture<Integer> late = user.later(i, 5);
            assertThat(nobody.header("")).isEqualTo("nobody/null");
            assertThat(user.header("")).isEqualTo("user " + i + "/user " + i);
            assertThat(user.count(i, i + 100).toList()).hasSize(100).doesNotContain(-1);
            assertThat(nobody.header("")).isEqualTo("nobody/null");
            assertThat(late.join()).isEqualTo(i);
        }
    }

    /** Adds trailers as handler and as interceptor. */
    private static final class TrailingService extends EchoService {
        @Override
        public long add(long first, long second) {
            RpcContext.current().orElseThrow().addTrailers(Metadata.of("sum", "" + (first + second)));
            return super.add(first, second);
        }

        @Override
        public CompletableFuture<Integer> later(int value, int millis) {
            RpcContext call = RpcContext.current().orElseThrow();
            return super.later(value, millis).whenComplete((done, failure) -> {
                call.addTrailers(Metadata.of("late", "" + value));
            });
        }

        @Override
        public Stream<Integer> count(int from, int to) {
            RpcContext call = RpcContext.current().orElseThrow();
            return super.count(from, to).peek(each -> call.addTrailers(Metadata.of("counted", "" + each)));
        }

        @Override
        public void nothing() {
            RpcContext.current().orElseThrow().addTrailers(Metadata.EMPTY.with("large-bin", new byte[3000]));
        }

        @Override
        public void fail(String code, String description) {
            RpcContext.current().orElseThrow().addTrailers(Metadata.of("failed", "yes"));
            super.fail(code, description);
        }
    }

    /** In alphabetical order: a handler's trailers may be added before or after an interceptor's. */
    private static String sorted(Metadata trailers) {
        String text = trailers.toString();
        String pairs = text.substring(text.indexOf('{') + 1, text.length() - 1);
        return Stream.of(pairs.split(", ")).sorted().collect(Collectors.joining(", "));
    }

    @ParameterizedTest
    @MethodSource("modes")
    void shouldBringTrailersAlsoWithSuccess(Mode mode) {
        List<String> seen = Collections.synchronizedList(new ArrayList<>());
        serve(place(RpcServer.builder()
                .service(Echo.class, new TrailingService())
                .dispatch(mode.dispatch())
                .waiting(mode.waiting())
                .interceptor((call, next) -> {
                    next.run();
                    call.addTrailers(Metadata.of("after", call.method().name()));
                })));
        Echo echo = keep(channel(mode).open())
                .stub(
                        Echo.class,
                        CallOptions.DEFAULT.withObserver(
                                (status, trailers) -> seen.add(status.code() + " " + sorted(trailers))));
        assertThat(echo.add(1, 2)).isEqualTo(3);
        assertThat(echo.later(7, 5).join()).isEqualTo(7);
        assertThat(echo.count(0, 500).count()).isEqualTo(500);
        echo.nothing();
        assertThat(codeOf(() -> echo.fail("NOT_FOUND", "none"))).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(echo.bytes(new byte[70_000])).hasSize(70_000);
        assertThat(seen)
                .containsExactly(
                        "OK after=add, sum=3",
                        "OK after=later, late=7",
                        "OK after=count, counted=499",
                        "OK after=nothing, large-bin=3000 bytes",
                        "NOT_FOUND detail=why, failed=yes, raw-bin=1 bytes",
                        "OK after=bytes");
    }

    // ---- more asynchronous calls than slots

    /** The test completes its futures. */
    public static final class HoldingService extends EchoService {
        /** What {@link #later} was called with, in order. */
        public final Queue<Integer> called = new ConcurrentLinkedQueue<>();

        private final Queue<CompletableFuture<Integer>> held = new ConcurrentLinkedQueue<>();

        @Override
        public CompletableFuture<Integer> later(int value, int millis) {
            called.add(value);
            CompletableFuture<Integer> future = new CompletableFuture<>();
            held.add(future);
            return future.thenApply(_ -> value);
        }

        /** Lets the calls that have come go on. */
        public void letGo() {
            for (CompletableFuture<Integer> next = held.poll(); next != null; next = held.poll()) {
                next.complete(0);
            }
        }
    }

    @Test
    void shouldQueueAsynchronousCallsInOrderWithoutBlockingTheirCaller() {
        HoldingService holding = new HoldingService();
        serve(place(RpcServer.builder().service(Echo.class, holding).stuckAfter(NEVER_STUCK)));
        Echo echo = stub(channel(plain()).slots(4).open());
        // No call ends before the last one was made.
        List<CompletableFuture<Integer>> futures = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            futures.add(echo.later(i, 0));
        }
        await(() -> {
            holding.letGo();
            return futures.stream().allMatch(CompletableFuture::isDone);
        });
        assertThat(futures.stream().map(CompletableFuture::join)).containsExactlyElementsOf(holding.called);
        assertThat(List.copyOf(holding.called)).isSorted().hasSize(100);
        assertThat(echo.add(1, 2)).isEqualTo(3);
    }

    // ---- interrupts

    public static List<Mode> modesToInterrupt() {
        List<Mode> all = new ArrayList<>(modes());
        all.add(new Mode(Dispatch.workers(2), WaitStrategy.busySpin()));
        return all;
    }

    @ParameterizedTest
    @MethodSource("modesToInterrupt")
    void shouldEndTheCallOfAnInterruptedThread(Mode mode) {
        Echo echo = connect(mode);
        for (Thread.Builder kind : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
            int before = service.blocking.get();
            CompletableFuture<String> end = new CompletableFuture<>();
            Thread caller = kind.start(() -> end.complete(codeOf(() -> echo.block(30_000)) + " "
                    + Thread.currentThread().isInterrupted()));
            await(() -> service.blocking.get() > before);
            caller.interrupt();
            assertThat(end.join()).isEqualTo(Status.Code.CANCELLED + " true");
            await(() -> service.cancelled.get() == service.blocking.get());
            // The connection has survived the interrupt.
            assertThat(echo.add(1, 2)).isEqualTo(3);
        }
    }

    // ---- life

    @Test
    protected void shouldReportAChannelWithoutServer() {
        assertFails(
                        Status.Code.NOT_FOUND,
                        () -> place(RpcChannel.builder("/no/such")).open())
                .hasMessageContainingAll("/no/such", whereToLook());
        assertThat(codeOf(() -> RpcChannel.open("no slash"))).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }

    @Test
    void shouldRefuseAServerBesideAnExclusiveOne() {
        serve(place(RpcServer.builder().service(Echo.class, service)).exclusive());
        assertThrown(RpcException.class, () -> serve(plain()), "ALREADY_EXISTS", "/test/echo");
    }

    @ParameterizedTest
    @MethodSource("modes")
    void shouldFinishCallsUnderWayWhenShutDownAndReconnectToTheNextServer(Mode mode) {
        RpcServer first = serve(mode);
        RpcChannel channel = channel(mode).open();
        Echo echo = stub(channel);
        assertThat(echo.add(1, 1)).isEqualTo(2);
        CompletableFuture<Integer> underWay = echo.later(5, 100);
        // The server takes requests in order, so it has now seen that one, also without shared memory.
        assertThat(echo.add(1, 1)).isEqualTo(2);
        assertThat(first.shutdown(Await.BOUND)).isTrue();
        assertThat(underWay.join()).isEqualTo(5);
        assertThat(codeOf(() -> echo.add(1, 1))).isEqualTo(Status.Code.UNAVAILABLE);
        serve(mode);
        awaitNextServer(channel);
        assertThat(echo.add(2, 2)).isEqualTo(4);
    }

    /** Waits until the channel knows of a server that has started, where a call does not find it by itself. */
    protected void awaitNextServer(RpcChannel channel) {}

    /** Between two requests of its reader, a stream is under way as well. */
    @Test
    void shouldFinishStreamsThatAreReadWhenShutDown() {
        int elements = 20_000;
        RpcServer server = serve(plain());
        RpcChannel channel = channel(plain()).open();
        try (Stream<Integer> counted = stub(channel).count(0, elements)) {
            Iterator<Integer> read = counted.iterator();
            assertThat(read.next()).isZero();
            CompletableFuture<Boolean> drained = Concurrently.start(() -> server.shutdown(Await.BOUND));
            await(() -> channel.state() != RpcChannel.State.READY);
            for (int i = 1; i < elements; i++) {
                assertThat(read.next()).isEqualTo(i);
            }
            assertThat(read.hasNext()).isFalse();
            assertThat(drained).succeedsWithin(Await.BOUND).isEqualTo(true);
        }
    }

    @Test
    void shouldEndCallsUnderWayWhenTheChannelIsClosed() {
        serve(new Mode(Dispatch.virtualThreads(), WaitStrategy.adaptive()));
        RpcChannel channel = channel(plain()).open();
        Echo echo = channel.stub(Echo.class);
        CompletableFuture<Integer> future = echo.later(1, 20_000);
        CompletableFuture<Status.Code> blocked = CompletableFuture.supplyAsync(() -> codeOf(() -> echo.block(20_000)));
        await(() -> service.blocking.get() == 1);
        channel.close();
        assertThatThrownBy(future::join).hasMessageContaining("CANCELLED");
        assertThat(blocked.join()).isEqualTo(Status.Code.CANCELLED);
        assertThat(codeOf(() -> echo.add(1, 1))).isEqualTo(Status.Code.CANCELLED);
        channel.close();
    }

    @Test
    void shouldLimitConnections() {
        RpcServer server =
                serve(place(RpcServer.builder().service(Echo.class, service).maxConnections(2)));
        RpcChannel one = open(channel(plain()));
        open(channel(plain()));
        assertThat(codeOf(() -> channel(plain()).open())).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        one.close();
        await(() -> server.connections() == 1);
        open(channel(plain()));
    }

    private static void await(BooleanSupplier condition) {
        Await.until("the condition", condition);
    }
}
