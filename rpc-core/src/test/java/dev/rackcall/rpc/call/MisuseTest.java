package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
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
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A mistake of a handler, an interceptor or a caller ends one call, with a reason. Nothing else breaks. */
@Timeout(60)
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
        return RpcServer.builder()
                .service(Echo.class, service)
                .service(Library.class, new LibraryService())
                .directory(directory);
    }

    private Echo echo() {
        return open(channel("/test/echo")).stub(Echo.class);
    }

    private static RpcException failure(Runnable call) {
        RpcException e = catchThrowableOfType(RpcException.class, call::run);
        assertThat(e).as("the failure").isNotNull();
        return e;
    }

    // ---- handlers

    @Test
    void shouldSayThatAHandlerReturnedNull() {
        serve(server());
        Echo echo = echo();
        assertThatThrownBy(() -> echo.later(1, -1).join())
                .hasMessageContaining("INTERNAL")
                .hasMessageContaining("null instead of a CompletableFuture");
        RpcException stream = failure(() -> echo.failAfter(-1).close());
        assertThat(stream.code()).isEqualTo(Status.Code.INTERNAL);
        assertThat(stream).hasMessageContaining("null instead of a Stream");
        assertThat(failure(() -> echo.header("x")).code()).isEqualTo(Status.Code.INTERNAL);
        RpcException element = failure(() -> echo.failAfter(0).forEach(text -> {}));
        assertThat(element.code()).isEqualTo(Status.Code.INTERNAL);
        Library library = open(channel("/test/library")).stub(Library.class);
        RpcException shared = failure(library::foreign);
        assertThat(shared.code()).isEqualTo(Status.Code.INTERNAL);
        assertThat(shared).hasMessageContaining("/test/library/foreign").hasMessageContaining("null cannot be sent");
        assertThat(echo.add(1, 2)).isEqualTo(3);
    }

    @Test
    void shouldRefuseMoreOpenStreamsThanAClientMayHave() {
        serve(server());
        Echo echo = echo();
        List<Stream<Integer>> streams = new ArrayList<>();
        for (int i = 0; i < MOST_STREAMS; i++) {
            streams.add(echo.count(0, 1_000_000));
        }
        RpcException e = failure(() -> streams.add(echo.count(0, 1_000_000)));
        assertThat(e.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(e).hasMessageContaining("256 streams").hasMessageContaining("close them");
        streams.removeFirst().close();
        assertThat(echo.count(0, 3).toList()).containsExactly(0, 1, 2);
        streams.forEach(Stream::close);
        Await.equal("streams closed at the server", MOST_STREAMS + 2, service.closedStreams::get);
    }

    @Test
    void shouldCloseTheStreamsOfAChannelThatWasClosedBeforeTheirEnd() {
        serve(server());
        RpcChannel channel = channel("/test/echo").open();
        Iterator<Integer> read = channel.stub(Echo.class).count(0, 1_000_000).iterator();
        Stream<Integer> unread = channel.stub(Echo.class).count(0, 1_000_000);
        assertThat(read.next()).isZero();
        channel.close();
        Await.equal("streams closed at the server", 2, service.closedStreams::get);
        assertThat(failure(() -> read.forEachRemaining(number -> {})).code()).isEqualTo(Status.Code.CANCELLED);
        assertThat(failure(() -> unread.forEach(number -> {})).code()).isEqualTo(Status.Code.CANCELLED);
        unread.close();
    }

    // ---- interceptors

    @Test
    void shouldEndOnlyTheCallWhoseServerInterceptorThrows() {
        serve(server().interceptor(call -> status -> told.add(status.code()))
                .interceptor(call -> switch (call.method().name()) {
                    case "nothing" -> throw new IllegalStateException("an interceptor's mistake");
                    case "notes" ->
                        throw Status.Code.UNAUTHENTICATED.with("who are you?").asException();
                    case "add" -> null;
                    default ->
                        status -> {
                            throw new IllegalStateException("an observer's mistake");
                        };
                }));
        Echo echo = echo();
        // The interceptor hears of a call after its answer, on a thread that another thread may relieve meanwhile.
        assertThat(failure(echo::nothing).code()).isEqualTo(Status.Code.UNKNOWN);
        awaitTold(1);
        assertThat(failure(echo::notes).code()).isEqualTo(Status.Code.UNAUTHENTICATED);
        awaitTold(2);
        assertThat(failure(() -> echo.add(1, 2)).code()).isEqualTo(Status.Code.UNKNOWN);
        awaitTold(3);
        assertThat(echo.bytes(new byte[7])).hasSize(7);
        awaitTold(4);
        assertThat(echo.later(3, 1).join()).isEqualTo(3);
        assertThat(echo.count(0, 100).count()).isEqualTo(100);
        awaitTold(6);
        assertThat(told.subList(0, 4))
                .containsExactly(Status.Code.UNKNOWN, Status.Code.UNAUTHENTICATED, Status.Code.UNKNOWN, Status.Code.OK);
    }

    private void awaitTold(int count) {
        Await.equal("calls that were heard to end", count, told::size);
    }

    @Test
    void shouldEndOnlyTheCallWhoseClientInterceptorThrows() {
        serve(server());
        Echo echo = open(channel("/test/echo")
                        .slots(2)
                        .interceptor(call -> status -> told.add(status.code()))
                        .interceptor(call -> switch (call.method().name()) {
                            case "nothing" -> throw new IllegalStateException("an interceptor's mistake");
                            case "notes" ->
                                throw Status.Code.ABORTED.with("not now").asException();
                            case "fail" -> null;
                            default ->
                                status -> {
                                    throw new IllegalStateException("an observer's mistake");
                                };
                        })
                        .interceptor(call -> status -> told.add(status.code())))
                .stub(Echo.class);
        for (int i = 0; i < 3; i++) {
            told.clear();
            RpcException e = failure(echo::nothing);
            assertThat(e.code()).isEqualTo(Status.Code.INTERNAL);
            assertThat(e).hasMessageContaining("/test/echo/nothing").hasMessageContaining("interceptor");
            assertThat(failure(echo::notes).code()).isEqualTo(Status.Code.ABORTED);
            assertThat(failure(() -> echo.fail("OK", "")).code()).isEqualTo(Status.Code.INTERNAL);
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

    // ---- quotas

    @Test
    void shouldTellTheCallerThatAnAnswerDoesNotFit() {
        serve(server().arenaQuota(1 << 20));
        RpcChannel channel = open(channel("/test/library"));
        Library library = channel.stub(Library.class);
        List<Library.Book> books = new ArrayList<>();
        RpcException full = failure(() -> {
            while (true) {
                books.add(library.write("a book", 500));
            }
        });
        assertThat(full.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(full).hasMessageContaining("/test/library/write").hasMessageContaining("is full");
        try (Scope scope = channel.newScope()) {
            Library.Book mine = LibraryService.fill(scope, "mine", 3_000);
            RpcException value = failure(() -> library.texts(mine));
            assertThat(value.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(value).hasMessageContaining("a payload of");
            assertThat(library.kept()).isEmpty();
            books.forEach(channel::release);
            assertThat(library.texts(mine)).hasSize(3_000);
        }
        assertThat(echo().add(1, 2)).isEqualTo(3);
    }

    @Test
    void shouldTellWhoeverFillsTheSharedArena() {
        serve(server().sharedQuota(1 << 20));
        RpcChannel channel = open(channel("/test/library"));
        Library library = channel.stub(Library.class);
        try (Scope scope = channel.newSharedScope()) {
            assertThatThrownBy(() -> LibraryService.fill(scope, "too much", 100_000))
                    .isInstanceOf(OutOfArenaException.class)
                    .hasMessageContaining("is full")
                    .hasMessageContaining("quota");
            assertThat(library.write("meanwhile", 1).title()).isEqualTo("meanwhile");
        }
        try (Scope scope = channel.newSharedScope()) {
            assertThat(library.texts(LibraryService.fill(scope, "after", 1))).containsExactly("after 0");
        }
    }
}
