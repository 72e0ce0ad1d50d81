package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.CapturedErr;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Unreleased results cause a warning that names a place in the code. */
class UnreleasedResultTest extends RpcFixture {
    private static final int FIRST_WARNING = 1_024;
    private static final int BOOKS = 100;

    @RpcService("/test/shelf")
    interface Shelf {
        record Boxed(String label, Optional<Library.Book> book) {}

        @Rpc
        List<Library.Book> books(int count);

        @Rpc
        Boxed boxed();

        @Rpc
        CompletableFuture<Boxed> later();
    }

    private static final class Shelves implements Shelf {
        @Override
        public List<Library.Book> books(int count) {
            Scope scope = RpcContext.current().orElseThrow().replyScope();
            return IntStream.range(0, count)
                    .mapToObj(i -> LibraryService.fill(scope, "book " + i, 0))
                    .toList();
        }

        @Override
        public Boxed boxed() {
            return new Boxed("boxed", Optional.of(books(1).getFirst()));
        }

        @Override
        public CompletableFuture<Boxed> later() {
            return CompletableFuture.completedFuture(boxed());
        }
    }

    private static void leak(Library library) {
        library.write("leaked", 0);
    }

    @Test
    void shouldWarnOfResultsThatAreNotReleasedAndSayWhereOneWasMade() {
        serve(Library.class, new LibraryService());
        RpcChannel channel = open(Library.class);
        Library library = channel.stub(Library.class);
        try (CapturedErr log = CapturedErr.begin()) {
            for (int i = 0; i < 2 * FIRST_WARNING; i++) {
                channel.release(library.write("released", 0));
                library.write("closed", 0).close();
            }
            for (int i = 0; i < FIRST_WARNING - 1; i++) {
                leak(library);
            }
            assertThat(log.text()).doesNotContain("RpcChannel.release");
            leak(library);
            assertThat(log.text())
                    .contains(
                            "channel /test/library: 1024 shared results were not released",
                            "RpcChannel.release",
                            "UnreleasedResultTest.leak");
        }
    }

    /** Each release of an object once counted as that of a result, so that results of several objects hid leaks. */
    @Test
    void shouldCountAResultOnceHoweverOftenItIsReleased() {
        serve(Shelf.class, new Shelves());
        RpcChannel channel = open(Shelf.class);
        Shelf shelf = channel.stub(Shelf.class);
        try (CapturedErr log = CapturedErr.begin()) {
            for (int i = 0; i < FIRST_WARNING - 2; i++) {
                assertThat(shelf.books(1)).hasSize(1);
            }
            for (int i = 0; i < 20; i++) {
                shelf.books(BOOKS).forEach(channel::release);
                Library.Book twice = shelf.books(1).getFirst();
                channel.release(twice);
                channel.release(twice);
            }
            assertThat(shelf.books(1)).hasSize(1);
            assertThat(log.text()).doesNotContain("RpcChannel.release");
            assertThat(shelf.books(1)).hasSize(1);
            assertThat(log.text()).contains("channel /test/shelf: 1024 shared results were not released");
        }
    }

    /** The reply arena has room for some sixty results. */
    @Test
    void shouldReleaseAResultThatAnInterceptorKeepsFromItsCaller() {
        serve(Shelf.class, new Shelves());
        Shelf shelf = open(channel(Shelf.class).arenaQuota(256 << 10).interceptor((call, next) -> {
                    CountDownLatch ended = new CountDownLatch(1);
                    call.onEnd((_, _) -> ended.countDown());
                    next.run();
                    Await.latch(ended);
                    throw Status.Code.ABORTED.with("on second thoughts").asException();
                }))
                .stub(Shelf.class);
        for (int i = 0; i < 300; i++) {
            assertFails(Status.Code.ABORTED, () -> shelf.books(2));
            assertFails(Status.Code.ABORTED, shelf::boxed);
            assertFails(Status.Code.ABORTED, shelf::later);
        }
    }
}
