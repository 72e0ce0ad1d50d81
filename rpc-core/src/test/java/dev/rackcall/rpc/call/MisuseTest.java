package dev.rackcall.rpc.call;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A mistake of a handler, an interceptor or a caller ends one call, with a reason. Nothing else breaks. */
class MisuseTest extends RpcFixture {
    private static final int MOST_STREAMS = 256;

    private final List<Status.Code> told = Collections.synchronizedList(new ArrayList<>());
    private final NullService service = new NullService();

    /** Returns null instead of a future, a stream or a string. */
    private static final class NullService extends EchoService {
        @Override
        public CompletableFuture<Integer> later(int value, int millis) {
            return millis < 0 ? null : super.later(value, millis);
        }

        @Override
        public Stream<String> failAfter(int elements) {
            return elements < 0 ? null : elements == 0 ? Stream.of("first", null) : super.failAfter(elements);
        }

        @Override
        public String header(String key) {
            return null;
        }
    }

    private RpcServer.Builder server() {
        return serving(Echo.class, service).service(Library.class, new LibraryService());
    }

    // ---- handlers

    @Test
    void shouldSayThatAHandlerReturnedNull() {
        serve(server());
        Echo echo = connect(Echo.class);
        assertThatThrownBy(() -> echo.later(1, -1).join())
                .hasMessageContainingAll("INTERNAL", "null instead of a CompletableFuture");
        assertFails(Status.Code.INTERNAL, () -> echo.failAfter(-1).close())
                .hasMessageContaining("null instead of a Stream");
        assertFails(Status.Code.INTERNAL, () -> echo.header("x"));
        assertFails(Status.Code.INTERNAL, () -> echo.failAfter(0).forEach(text -> {}));
        assertFails(Status.Code.INTERNAL, connect(Library.class)::foreign)
                .hasMessageContainingAll("/test/library/foreign", "null cannot be sent");
        assertThat(echo.add(1, 2)).isEqualTo(3);
    }

    @Test
    void shouldRefuseMoreOpenStreamsThanAClientMayHave() {
        // A thread that gets no processor while it closes a stream is not relieved: the next call would overtake it.
        serve(server().stuckAfter(Duration.ofMinutes(5)));
        Echo echo = connect(Echo.class);
        List<Stream<Integer>> streams = new ArrayList<>();
        for (int i = 0; i < MOST_STREAMS; i++) {
            streams.add(echo.count(0, 1_000_000));
        }
        assertFails(Status.Code.RESOURCE_EXHAUSTED, () -> streams.add(echo.count(0, 1_000_000)))
                .hasMessageContainingAll("256 streams", "close them");
        streams.removeFirst().close();
        assertThat(echo.count(0, 3).toList()).containsExactly(0, 1, 2);
        streams.forEach(Stream::close);
        Await.equal("streams closed at the server", MOST_STREAMS + 2, service.closedStreams::get);
    }

    @Test
    void shouldCloseTheStreamsOfAChannelThatWasClosedBeforeTheirEnd() {
        serve(server());
        RpcChannel channel = channel(Echo.class).open();
        Iterator<Integer> read = channel.stub(Echo.class).count(0, 1_000_000).iterator();
        Stream<Integer> unread = channel.stub(Echo.class).count(0, 1_000_000);
        assertThat(read.next()).isZero();
        channel.close();
        Await.equal("streams closed at the server", 2, service.closedStreams::get);
        assertFails(Status.Code.CANCELLED, () -> read.forEachRemaining(number -> {}));
        assertFails(Status.Code.CANCELLED, () -> unread.forEach(number -> {}));
        unread.close();
    }

    // ---- interceptors

    private void tellEnd(RpcContext call, Runnable next) {
        call.onEnd((status, trailers) -> told.add(status.code()));
        next.run();
    }

    @Test
    void shouldEndOnlyTheCallWhoseServerInterceptorThrows() {
        serve(server().interceptor(this::tellEnd).interceptor((call, next) -> {
            switch (call.method().name()) {
                case "nothing" -> throw new IllegalStateException("an interceptor's mistake");
                case "notes" ->
                    throw Status.Code.UNAUTHENTICATED.with("who are you?").asException();
                case "add" -> {} // does not run the call
                case "note" -> {
                    next.run();
                    throw new IllegalStateException("an interceptor's mistake after the handler");
                }
                case "block" -> {
                    next.run();
                    next.run();
                }
                default -> {
                    call.onEnd((status, trailers) -> {
                        throw new IllegalStateException("an observer's mistake");
                    });
                    next.run();
                }
            }
        }));
        Echo echo = connect(Echo.class);
        String name = getClass().getName();
        // The interceptor hears of a call after its answer, on a thread that another thread may relieve in the
        // meantime.
        assertFails(Status.Code.INTERNAL, echo::nothing).hasMessageContainingAll(name, "IllegalStateException");
        awaitTold(1);
        assertFails(Status.Code.UNAUTHENTICATED, echo::notes);
        awaitTold(2);
        assertFails(Status.Code.INTERNAL, () -> echo.add(1, 2)).hasMessageContainingAll(name, "without running");
        awaitTold(3);
        assertThat(echo.bytes(new byte[7])).hasSize(7);
        awaitTold(4);
        assertThat(echo.later(3, 1).join()).isEqualTo(3);
        assertThat(echo.count(0, 100).count()).isEqualTo(100);
        awaitTold(6);
        assertThat(told.subList(0, 4))
                .containsExactly(
                        Status.Code.INTERNAL, Status.Code.UNAUTHENTICATED, Status.Code.INTERNAL, Status.Code.OK);
        echo.note("one-way");
        awaitTold(7);
        assertFails(Status.Code.INTERNAL, () -> echo.block(0)).hasMessageContainingAll(name, "IllegalStateException");
    }

    private void awaitTold(int count) {
        Await.equal("calls that were heard to end", count, told::size);
    }

    private void tellEnd(ClientInterceptor.Call call, Runnable next) {
        call.onEnd((status, trailers) -> told.add(status.code()));
        next.run();
    }

    @Test
    void shouldEndOnlyTheCallWhoseClientInterceptorThrows() {
        serve(server());
        Echo echo = open(channel(Echo.class)
                        .slots(2)
                        .interceptor(this::tellEnd)
                        .interceptor((call, next) -> {
                            switch (call.method().name()) {
                                case "nothing" -> throw new IllegalStateException("an interceptor's mistake");
                                case "notes" ->
                                    throw Status.Code.ABORTED.with("not now").asException();
                                case "fail" -> {} // does not run the call
                                default -> {
                                    call.onEnd((status, trailers) -> {
                                        throw new IllegalStateException("an observer's mistake");
                                    });
                                    next.run();
                                }
                            }
                        })
                        .interceptor(this::tellEnd))
                .stub(Echo.class);
        for (int i = 0; i < 3; i++) {
            told.clear();
            assertFails(Status.Code.INTERNAL, echo::nothing)
                    .hasMessageContainingAll("/test/echo/nothing", getClass().getName(), "an interceptor's mistake");
            assertFails(Status.Code.ABORTED, echo::notes);
            assertFails(Status.Code.INTERNAL, () -> echo.fail("OK", ""))
                    .hasMessageContainingAll(getClass().getName(), "without running");
            assertThat(told).containsExactly(Status.Code.INTERNAL, Status.Code.ABORTED, Status.Code.INTERNAL);
            told.clear();
            assertThat(echo.add(1, 2)).isEqualTo(3);
            assertThat(echo.later(3, 1).join()).isEqualTo(3);
            assertThat(echo.count(0, 100).count()).isEqualTo(100);
            echo.note("one-way");
            // The first and the last interceptor hear of it, although the one between them throws.
            Await.equal("observers that heard", Collections.nCopies(8, Status.Code.OK), () -> List.copyOf(told));
        }
    }

    private static final class Broken extends AbstractList<Double> {
        @Override
        public Double get(int index) {
            throw new StackOverflowError("an argument's mistake");
        }

        @Override
        public int size() {
            return 1;
        }
    }

    @Test
    void shouldNameAClientInterceptorThatThrowsAnErrorAndThrowWhatItHides() {
        serve(server());
        Echo echo = open(channel(Echo.class).interceptor((call, next) -> {
                    if (call.method().name().equals("nothing")) {
                        throw new AssertionError("an interceptor's mistake");
                    }
                    try {
                        next.run();
                    } catch (Throwable hidden) {
                        told.add(Status.Code.UNKNOWN);
                    }
                }))
                .stub(Echo.class);
        assertFails(Status.Code.INTERNAL, echo::nothing)
                .hasMessageContainingAll("/test/echo/nothing", getClass().getName(), "an interceptor's mistake");
        assertThrown(
                StackOverflowError.class,
                () -> echo.parcel(new Echo.Parcel("name", 1, Echo.Kind.BOX, new Broken(), Map.of(), Optional.empty())),
                "an argument's mistake");
        assertThat(told).containsExactly(Status.Code.UNKNOWN);
        assertThat(echo.add(1, 2)).isEqualTo(3);
    }

    // ---- quotas

    @Test
    void shouldTellTheCallerThatAnAnswerDoesNotFit() {
        serve(server().arenaQuota(1 << 20));
        RpcChannel channel = open(channel(Library.class));
        Library library = channel.stub(Library.class);
        List<Library.Book> books = new ArrayList<>();
        assertFails(Status.Code.RESOURCE_EXHAUSTED, () -> {
                    while (true) {
                        books.add(library.write("a book", 500));
                    }
                })
                .hasMessageContaining("/test/library/write: RpcChannel.release results, or raise arenaQuota")
                .hasMessageNotContaining("scopes");
        try (Scope scope = channel.newScope()) {
            Library.Book mine = LibraryService.fill(scope, "mine", 3_000);
            assertFails(Status.Code.RESOURCE_EXHAUSTED, () -> library.texts(mine))
                    .hasMessageContainingAll("RpcChannel.release results", "a payload of");
            assertThat(library.kept()).isEmpty();
            books.forEach(channel::release);
            assertThat(library.texts(mine)).hasSize(3_000);
        }
        assertThat(connect(Echo.class).add(1, 2)).isEqualTo(3);
    }

    /** The handler's own scopes are not its caller's, who can release nothing. */
    @Test
    void shouldAdviseOnTheArenaThatIsFull() {
        CompletableFuture<RpcChannel> own = new CompletableFuture<>();
        serve(serving(Echo.class, new EchoService() {
                    @Override
                    public long add(long a, long b) {
                        try (Scope scope = a == 0
                                ? own.join().newScope()
                                : RpcContext.current().orElseThrow().temporaryScope()) {
                            LibraryService.fill(scope, "too much", 100_000);
                            return 0;
                        }
                    }
                })
                .service(Library.class, new LibraryService())
                .sharedQuota(1 << 20));
        own.complete(open(channel(Library.class).arenaQuota(1 << 20)));
        Echo echo = connect(Echo.class);
        assertFails(Status.Code.RESOURCE_EXHAUSTED, () -> echo.add(0, 0))
                .hasMessageContainingAll("/test/echo/add: close scopes", "larger arenaQuota", "is full")
                .hasMessageNotContaining("release");
        assertFails(Status.Code.RESOURCE_EXHAUSTED, () -> echo.add(1, 0))
                .hasMessageContainingAll("/test/echo/add: use less memory in temporary scopes", "sharedQuota")
                .hasMessageNotContaining("release");
    }

    @Test
    void shouldReportAFullSharedArena() {
        serve(server().sharedQuota(1 << 20));
        RpcChannel channel = open(channel(Library.class));
        Library library = channel.stub(Library.class);
        try (Scope scope = channel.newSharedScope()) {
            assertThrown(
                    OutOfArenaException.class,
                    () -> LibraryService.fill(scope, "too much", 100_000),
                    "is full",
                    "close shared scopes, or raise the server's sharedQuota");
            assertThat(library.write("meanwhile", 1).title()).isEqualTo("meanwhile");
        }
        try (Scope scope = channel.newSharedScope()) {
            assertThat(library.texts(LibraryService.fill(scope, "after", 1))).containsExactly("after 0");
        }
    }
}
