package dev.rackcall.rpc.contract;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Library.Book;
import dev.rackcall.rpc.contract.Library.Page;
import dev.rackcall.shm.EndedMemoryException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeException;
import dev.rackcall.shm.types.SharedList;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedType;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shared objects as arguments and results: passed by pointer, owned and written as documented. */
public class SharedCallTest extends ManyStoresContract {
    /** Longer than a test waits. */
    static final Duration LONG = Duration.ofMinutes(10);

    private final LibraryService service = new LibraryService();
    RpcServer server;
    RpcChannel channel;
    Library library;

    @Override
    protected RpcServer.Builder place(RpcServer.Builder builder) {
        return builder.runtimeFolder(directory);
    }

    @Override
    protected RpcChannel.Builder place(RpcChannel.Builder builder) {
        return builder.runtimeFolder(directory).connectTimeout(Await.BOUND);
    }

    @BeforeEach
    void start() {
        server = serve(place(RpcServer.builder()
                .service(Library.class, service)
                .service(Echo.class, new EchoService())
                .service(Ledger.class, ledgerService)));
        channel = open(place(RpcChannel.builder("/test/library")));
        library = channel.stub(Library.class);
    }

    static Page chain(Scope scope, int pages) {
        Page first = null;
        for (int i = 0; i < pages; i++) {
            Page page = scope.create(Page.class);
            page.number(i);
            page.next(first == null ? Ref.nullRef() : SharedObject.toRef(first));
            first = page;
        }
        return first;
    }

    @Test
    void shouldServeSeveralServicesEachOnItsChannelAndAllOverOneConnection() {
        assertThat(server.channels()).containsExactly("/test/library", "/test/echo", "/test/ledger");
        int connections = server.connections();
        Echo echo = channel.stub(Echo.class);
        assertThat(echo.add(1, 2)).isEqualTo(3);
        assertThat(echo.count(0, 1000)).hasSize(1000);
        assertThat(echo.later(3, 1)).succeedsWithin(Await.BOUND).isEqualTo(3);
        assertFails(Status.Code.INTERNAL, () -> echo.fail("INTERNAL", "why")).hasMessageContaining("why");
        assertThat(library.kept()).isEmpty();
        assertThat(channel.stub(Ledger.class)).isNotNull();
        assertThat(server.connections()).isEqualTo(connections);
        RpcChannel opened = open(place(RpcChannel.builder("/test/echo")));
        Library other = opened.stub(Library.class);
        Book book = other.write("over the same connection", 50);
        assertThat(book.title()).isEqualTo("over the same connection");
        opened.release(book);
        try (Scope scope = opened.newScope()) {
            assertThat(other.sum(chain(scope, 100))).isEqualTo(4950);
        }
        assertThat(opened.stub(Echo.class).add(1, 2)).isEqualTo(3);
        assertThat(server.connections()).isEqualTo(connections + 1);
    }

    @Test
    void shouldPassGraphsByPointer() {
        try (Scope mine = channel.newScope()) {
            assertThat(library.sum(chain(mine, 10_000))).isEqualTo(49_995_000L);
            assertThat(library.texts(LibraryService.fill(mine, "x", 2))).containsExactly("x 0", "x 1");
        }
    }

    @Test
    void shouldReturnObjectsThatLiveUntilTheyAreReleased() {
        for (int i = 0; i < 300; i++) {
            Book book = library.write("book " + i, 50);
            assertThat(book.title()).isEqualTo("book " + i);
            assertThat(book.pages().get(49).text()).isEqualTo("book " + i + " 49");
            channel.release(book);
        }
    }

    @Test
    void shouldReleaseResultsByTryWithResources() {
        for (int i = 0; i < 300; i++) {
            Book used;
            try (Book book = library.write("book " + i, 50)) {
                assertThat(book.pages().get(49).text()).isEqualTo("book " + i + " 49");
                used = book;
            }
            assertThrown(IllegalStateException.class, used::title, "Book whose object was released");
            used.close();
        }
        try (Scope mine = channel.newScope();
                Book own = LibraryService.fill(mine, "mine", 1)) {
            own.close();
            assertThat(own.title()).isEqualTo("mine");
            assertThat(library.texts(own)).containsExactly("mine 0");
        }
    }

    @Test
    void shouldNameTheChannelOfAnObjectWhoseConnectionHasEnded() {
        RpcChannel other = place(RpcChannel.builder("/test/library")).open();
        Book result = other.stub(Library.class).write("gone", 1);
        SharedList<Page> pages = result.pages();
        Scope scope = other.newScope();
        Book own = LibraryService.fill(scope, "own", 1);
        other.close();
        for (Runnable use : List.<Runnable>of(
                result::title, pages::size, own::title, own::pages, () -> own.title("new"), () -> pages.get(0))) {
            assertThrown(
                    EndedMemoryException.class,
                    use::run,
                    "channel /test/library has ended",
                    "copy what has to last",
                    "the channel was closed");
            assertThatThrownBy(use::run).message().doesNotContain("shut");
        }
        assertThrown(ScopeException.class, () -> scope.create(Page.class), "channel /test/library had ended");
        for (Runnable use : List.<Runnable>of(other::newScope, other::newSharedScope)) {
            assertFails(Status.Code.CANCELLED, use::run).hasMessageContaining("channel /test/library was closed here");
        }
        other.release(result);
        own.close();
        scope.close();
    }

    /** Whether the server still waits, long after it would have ended without anything to wait for. */
    final boolean stillDrains() throws InterruptedException {
        Await.until("the channel has seen it", () -> channel.state() != RpcChannel.State.READY);
        return !server.awaitTermination(Duration.ofMillis(300));
    }

    @Test
    void shouldKeepAResultWhileItsServerShutsDownUntilItIsReleased() throws Exception {
        Book held = library.write("held", 1);
        Book closed = library.write("closed", 1);
        CompletableFuture<Boolean> ended = Concurrently.start(() -> server.shutdown(LONG));
        assertThat(stillDrains()).isTrue();
        assertThat(held.title()).isEqualTo("held");
        assertThat(closed.pages().get(0).text()).isEqualTo("closed 0");
        closed.close();
        channel.release(held);
        assertThat(ended).succeedsWithin(Await.BOUND).isEqualTo(true);
    }

    @Test
    void shouldKeepAScopeWhileItsServerShutsDownUntilItIsClosed() throws Exception {
        CompletableFuture<Boolean> ended;
        try (Scope scope = channel.newScope()) {
            Book own = LibraryService.fill(scope, "own", 1);
            ended = Concurrently.start(() -> server.shutdown(LONG));
            assertThat(stillDrains()).isTrue();
            own.title("changed");
            scope.reset();
            assertThat(LibraryService.fill(scope, "new", 1).title()).isEqualTo("new");
        }
        assertThat(ended).succeedsWithin(Await.BOUND).isEqualTo(true);
    }

    @Test
    void shouldWaitNoLongerThanItsBoundForResultsAndScopesThatAreNeverReleased() {
        Book leaked = library.write("leaked", 1);
        Book own = LibraryService.fill(channel.newScope(), "own", 1);
        assertThat(server.shutdown(Duration.ofSeconds(2))).isFalse();
        for (Book each : List.of(leaked, own)) {
            Await.until("its memory has gone", () -> isGone(each));
            assertThrown(
                    EndedMemoryException.class,
                    each::title,
                    "channel /test/library has ended",
                    "its server shut down",
                    "release results and close scopes within the bound");
        }
    }

    private static boolean isGone(Book book) {
        try {
            return book.title() == null;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    @Test
    void shouldNotLoseMemoryToResultsOfFailedCalls() {
        for (int i = 0; i < 500; i++) {
            assertThatThrownBy(library::failAfterWriting).hasMessageContaining("ABORTED");
        }
        assertThat(library.write("after", 1).title()).isEqualTo("after");
    }

    @Test
    void shouldRefuseArgumentsThatThePeerCannotReach() {
        try (RpcChannel other = place(RpcChannel.builder("/test/library")).open();
                Scope elsewhere = other.newScope()) {
            Page page = chain(elsewhere, 1);
            assertFails(Status.Code.INVALID_ARGUMENT, () -> library.sum(page))
                    .hasMessageContainingAll("'first'", "is not of this channel's connection");
        }
        assertThrown(RpcException.class, () -> library.sum(null), "null");
    }

    @Test
    void shouldSayThatAnObjectIsGoneWithItsConnection() {
        RpcChannel other = place(RpcChannel.builder("/test/library")).open();
        Page gone = chain(other.newScope(), 1);
        other.close();
        assertFails(Status.Code.UNAVAILABLE, () -> library.sum(gone))
                .hasMessageContainingAll("'first'", "build it anew");
    }

    @ParameterizedTest
    @EnumSource(names = {"TRUSTED", "SNAPSHOT", "AUTO"})
    void shouldTakeAReferenceThatWasNeverSetForAMistakeInEveryMode(Isolation isolation) {
        Library isolated = channel.stub(Library.class, CallOptions.DEFAULT.withIsolation(isolation));
        try (Scope mine = channel.newScope()) {
            Book unfinished = mine.create(Book.class);
            RpcException e = catchThrowableOfType(RpcException.class, () -> isolated.texts(unfinished));
            // A handler that leaves its argument's memory gets PERMISSION_DENIED.
            assertThat(e.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
            assertThat(e).hasMessageContaining("Book.pages of Book at Ref(");
        }
    }

    @Test
    void shouldNotFollowARefIntoAScopeThatItsOwnerHasClosed() {
        try (Scope mine = channel.newScope()) {
            Page first = mine.create(Page.class);
            first.number(5);
            try (Scope closed = channel.newScope()) {
                // Passed by itself, so that it also reaches peers with separate memory.
                Page other = chain(closed, 3);
                assertThat(library.sum(other)).isEqualTo(3);
                first.next(SharedObject.toRef(other));
                assertThat(library.sum(first)).isEqualTo(8);
            }
            assertIsStale(first);
            // New memory at the same place does not make the Ref valid again.
            try (Scope later = channel.newScope()) {
                Page other = chain(later, 3);
                assertThat(library.sum(other)).isEqualTo(3);
                assertIsStale(first);
                first.next(SharedObject.toRef(other));
                assertThat(library.sum(first)).isEqualTo(8);
            }
        }
    }

    @Test
    void shouldNotFollowARefIntoAScopeThatItsOwnerHasReset() {
        try (Scope mine = channel.newScope();
                Scope reset = channel.newScope()) {
            Page first = mine.create(Page.class);
            // Of several runs, the last of them long.
            Page deep = chain(reset, 3_000);
            assertThat(library.sum(deep)).isEqualTo(4_498_500);
            first.next(SharedObject.toRef(deep));
            assertThat(library.sum(first)).isEqualTo(4_498_500);
            reset.reset();
            assertIsStale(first);
            chain(reset, 3_000);
            assertIsStale(first);
        }
    }

    private void assertIsStale(Page first) {
        assertFails(Status.Code.INVALID_ARGUMENT, () -> library.sum(first)).hasMessageContaining("closed or reset");
    }

    @Test
    void shouldNotFollowARefIntoAResultThatWasReleased() {
        Book released = library.write("released", 2);
        Ref<Book> ref = SharedObject.toRef(released);
        RefSpace space = SharedObject.spaceOf(released);
        assertThat(released.pages().get(1).number()).isEqualTo(1);
        channel.release(released);
        assertThrown(
                IllegalStateException.class,
                released::title,
                "Book whose object was released; read it before you release it");
        channel.release(released);
        // The server learns of it with a later call and confirms it with a later result.
        Await.until("a released result is stale", () -> {
            channel.release(library.write("later", 1));
            return isStale(space, ref);
        });
    }

    @Test
    void shouldReleaseAResultOnceWithAnyObjectOfIt() {
        Book book = library.write("released by its list of pages", 2);
        Book same = SharedType.of(Book.class).attach(SharedObject.spaceOf(book), SharedObject.refOf(book));
        Ref<Book> ref = SharedObject.toRef(book);
        RefSpace space = SharedObject.spaceOf(book);
        book.imprint().close();
        channel.release(book.imprint());
        assertThat(book.title()).isEqualTo("released by its list of pages");
        channel.release(book.pages());
        Await.until("a released result is stale", () -> {
            channel.release(library.write("later", 1));
            return isStale(space, ref);
        });
        same.close();
        channel.release(book);
    }

    private static boolean isStale(RefSpace space, Ref<Book> ref) {
        try {
            return space.memory(ref.bits()) == null;
        } catch (RefException e) {
            return e.getMessage().contains("closed or reset");
        }
    }

    @Test
    void shouldRefuseResultsThatTheCallerCannotReach() {
        try (RpcChannel other = place(RpcChannel.builder("/test/library")).open();
                Scope elsewhere = other.newScope()) {
            service.foreign = chain(elsewhere, 1);
            RpcException e = catchThrowableOfType(RpcException.class, library::foreign);
            assertThat(e.code()).isIn(Status.Code.INTERNAL, Status.Code.FAILED_PRECONDITION);
            assertThat(e).hasMessageContaining("replyScope");
        }
    }
}
