package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.CapturedErr;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a handler leaves behind does not reach the next caller. */
class LeftBehindTest extends RpcFixture {
    /** Equal CPU-time readings in a row that prove a thread sleeps. */
    private static final int LOOKS = 50;

    static List<Dispatch> dispatches() {
        return List.of(Dispatch.direct(), Dispatch.workers(1), Dispatch.virtualThreads());
    }

    /** Leaves an interrupt behind, and tells whether it finds one. */
    private static final class Interrupted extends EchoService {
        private final AtomicReference<Thread> handler = new AtomicReference<>();

        @Override
        public void nothing() {
            handler.set(Thread.currentThread());
            Thread.currentThread().interrupt();
        }

        @Override
        public long add(long first, long second) {
            return Thread.currentThread().isInterrupted() ? -1 : first + second;
        }
    }

    @ParameterizedTest
    @MethodSource("dispatches")
    void shouldNotShowAnInterruptToTheNextCallersHandler(Dispatch dispatch) {
        serve(serving(Echo.class, new Interrupted()).dispatch(dispatch));
        Echo first = connect(Echo.class);
        Echo second = connect(Echo.class);
        for (int i = 0; i < 20; i++) {
            first.nothing();
            assertThat(second.add(1, 2)).isEqualTo(3);
        }
    }

    @Test
    void shouldLetAWorkerSleepThatWasInterruptedAfterItsHandlerHadReturned() {
        Interrupted service = new Interrupted();
        serve(serving(Echo.class, service).dispatch(Dispatch.workers(1)));
        Echo echo = connect(Echo.class);
        echo.nothing();
        Thread worker = service.handler.get();
        Await.until("the worker sleeps", () -> worker.getState() == Thread.State.TIMED_WAITING);
        worker.interrupt();
        Await.until("the worker has forgotten the interrupt", () -> !worker.isInterrupted());
        Await.until("the worker sleeps again", () -> worker.getState() == Thread.State.TIMED_WAITING);
        assertThat(echo.add(1, 2)).isEqualTo(3);
    }

    @Test
    void shouldLetAPollerSleepAfterALateInterrupt() {
        Interrupted service = new Interrupted();
        // A polling thread that a busy host kept from its processor must not be replaced: it is the one to interrupt.
        serve(serving(Echo.class, service).dispatch(Dispatch.direct()).stuckAfter(Duration.ofMinutes(5)));
        Echo echo = connect(Echo.class);
        echo.nothing();
        Thread poller = service.handler.get();
        assertThat(poller.getName()).startsWith("rackcall-poll-");
        awaitRest(poller);
        poller.interrupt();
        awaitRest(poller);
        assertThat(echo.add(1, 2)).isEqualTo(3);
        assertThat(poller.isInterrupted()).isFalse();
        awaitRest(poller);
    }

    /** A thread that waits natively is RUNNABLE, as one that spins: only the latter takes time. */
    private static void awaitRest(Thread thread) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long[] last = {-1, 0};
        Await.until("the thread takes no processor", () -> {
            long now = threads.getThreadCpuTime(thread.threadId());
            last[1] = now == last[0] ? last[1] + 1 : 0;
            last[0] = now;
            return last[1] == LOOKS;
        });
    }

    /** Tells on which thread it runs. */
    private static final class Named extends EchoService {
        private final AtomicReference<String> streaming = new AtomicReference<>();

        @Override
        public String header(String key) {
            return Thread.currentThread().getName();
        }

        @Override
        public Stream<Integer> count(int from, int to) {
            return Stream.of(1).peek(_ -> streaming.set(Thread.currentThread().getName()));
        }
    }

    @ParameterizedTest
    @MethodSource("dispatches")
    void shouldNameTheThreadsOfHandlers(Dispatch dispatch) {
        Named service = new Named();
        serve(serving(Echo.class, service).dispatch(dispatch));
        Echo echo = connect(Echo.class);
        assertThat(echo.header("name")).matches("rackcall-(poll-\\d+|worker-\\d+|handler)");
        assertThat(echo.count(0, 1).toList()).containsExactly(1);
        assertThat(service.streaming.get()).startsWith("rackcall-");
    }

    /** Keeps its argument, against the rules, and reads it in the next call. */
    private static final class Keeper extends LibraryService {
        private Book forbidden;

        @Override
        public List<String> texts(Book book) {
            if (forbidden == null) {
                forbidden = book;
                return List.of();
            }
            return List.of(forbidden.pages().get(0).text());
        }

        @Override
        public synchronized List<String> kept() {
            return List.of(forbidden.pages().get(0).text());
        }
    }

    /** The new argument has the memory of the kept one: only assertions tell them apart. */
    @ParameterizedTest
    @MethodSource("dispatches")
    void shouldBlameTheHandlerForAnArgumentThatItKeptAndNotTheNextCaller(Dispatch dispatch) {
        serve(serving(Library.class, new Keeper()).dispatch(dispatch));
        RpcChannel channel = open(Library.class);
        Library library = channel.stub(Library.class);
        try (Scope freed = channel.newScope()) {
            assertThat(library.texts(LibraryService.fill(freed, "kept", 1))).isEmpty();
        }
        try (Scope mine = channel.newScope();
                CapturedErr log = CapturedErr.begin()) {
            // Again: the log leaves lines out while there are many of a kind.
            Await.until("the log blames the handler", () -> {
                assertFails(Status.Code.INTERNAL, () -> library.texts(LibraryService.fill(mine, "mine", 1)))
                        .hasMessageContainingAll("/test/library/texts", "memory was freed");
                return log.text().contains("RpcContext.adopt");
            });
            assertThat(log.text()).contains("/test/library/texts", "Book at Ref(");
        }
    }

    /** Also without assertions: no other object has the memory yet. */
    @Test
    void shouldRefuseARefOfAKeptArgumentOnceItsOwnerHasFreedIt() {
        serve(Library.class, new Keeper());
        RpcChannel channel = open(Library.class);
        Library library = channel.stub(Library.class);
        try (Scope freed = channel.newScope()) {
            assertThat(library.texts(LibraryService.fill(freed, "kept", 1))).isEmpty();
            assertThat(library.kept()).containsExactly("kept 0");
        }
        assertFails(Status.Code.INTERNAL, library::kept).hasMessageContaining("/test/library/kept");
    }

    /** Reads a number of its kept argument: checked while assertions are enabled, as in tests. */
    private static final class NumberKeeper extends LibraryService {
        private Book kept;

        @Override
        public List<String> texts(Book book) {
            if (kept == null) {
                kept = book;
            }
            return List.of("" + kept.imprint().year());
        }
    }

    @Test
    void shouldCheckAlsoNumbersOfAKeptArgumentWhileAssertionsAreEnabled() {
        serve(Library.class, new NumberKeeper());
        assertReadOfKeptNumberFails(open(Library.class));
    }

    @Test
    void shouldBlameTheHandlerForAnArgumentThatItKeptInAMirror() {
        URI address = URI.create("copy://left-behind");
        serve(serving(Library.class, new Keeper()).listen(address));
        RpcChannel channel = open(channel(Library.class).address(address));
        Library library = channel.stub(Library.class);
        try (Scope freed = channel.newScope()) {
            assertThat(library.texts(LibraryService.fill(freed, "kept", 1))).isEmpty();
        }
        try (Scope mine = channel.newScope()) {
            assertFails(Status.Code.INTERNAL, () -> library.texts(LibraryService.fill(mine, "mine", 1)))
                    .hasMessageContainingAll("/test/library/texts", "memory was freed");
        }
    }

    @Test
    void shouldCheckNumbersOfAKeptArgumentInAMirror() {
        URI address = URI.create("copy://left-numbers");
        serve(serving(Library.class, new NumberKeeper()).listen(address));
        assertReadOfKeptNumberFails(open(channel(Library.class).address(address)));
    }

    private static void assertReadOfKeptNumberFails(RpcChannel channel) {
        Library library = channel.stub(Library.class);
        try (Scope freed = channel.newScope()) {
            Library.Book book = LibraryService.fill(freed, "kept", 1);
            book.imprint().year(1984);
            assertThat(library.texts(book)).containsExactly("1984");
        }
        try (Scope mine = channel.newScope()) {
            assertFails(Status.Code.INTERNAL, () -> library.texts(LibraryService.fill(mine, "mine", 1)))
                    .hasMessageContainingAll("/test/library/texts", "memory was freed");
        }
    }

    @ParameterizedTest
    @MethodSource("dispatches")
    void shouldBlameTheHandlerForAnArgumentWhoseClientHasLeft(Dispatch dispatch) {
        RpcServer server = serve(serving(Library.class, new Keeper()).dispatch(dispatch));
        try (RpcChannel gone = channel(Library.class).open();
                Scope scope = gone.newScope()) {
            assertThat(gone.stub(Library.class).texts(LibraryService.fill(scope, "kept", 1)))
                    .isEmpty();
        }
        Await.equal("connections", 0, server::connections);
        RpcChannel channel = open(Library.class);
        try (Scope mine = channel.newScope();
                CapturedErr log = CapturedErr.begin()) {
            Library library = channel.stub(Library.class);
            // Again: the log leaves lines out while there are many of a kind.
            Await.until("the log blames the handler", () -> {
                assertFails(Status.Code.INTERNAL, () -> library.texts(LibraryService.fill(mine, "mine", 1)))
                        .hasMessageContainingAll("/test/library/texts", "memory was freed");
                return log.text().contains("connection to channel /test/library has ended");
            });
            assertThat(log.text()).contains("/test/library/texts", "RpcContext.adopt");
        }
    }
}
