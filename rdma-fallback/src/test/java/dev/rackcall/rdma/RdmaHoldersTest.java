package dev.rackcall.rdma;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Library.Page;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Several nodes that share no memory use their channel's arena: one writes, the server is the home, the others fetch
 * what they read.
 */
class RdmaHoldersTest extends ShelfNodes {
    private static final int PAGES = 20_000;
    private static final String HOST = "127.0.0.11";

    private final Faults faults = keep(Faults.at(HOST, SEED));

    RdmaHoldersTest() {
        super(HOST, channel -> channel);
    }

    /** Required: bytes are fetched on demand. */
    @Test
    void shouldFetchOnlyWhatAnotherNodeReads() {
        try (Scope scope = writer.newSharedScope(1 << 20)) {
            Page first = chain(scope, PAGES, 0).getFirst();
            long before = faults.moved();
            written.put(1, first);
            assertThat(faults.moved() - before).isGreaterThan(PAGES * 32L);

            before = faults.moved();
            Page found = read.get(1);
            assertThat(SharedObject.refOf(found)).isEqualTo(SharedObject.refOf(first));
            assertThat(ShelfService.numbers(found, 10)).isEqualTo(numbers(0, 10));
            assertThat(faults.moved() - before).isBetween(10 * 32L, 64L << 10);
            assertThat(ShelfService.numbers(read.get(1), PAGES)).isEqualTo(numbers(0, PAGES));
        }
    }

    @Test
    void shouldPushNothingForWhatHasNotChanged() {
        try (Scope scope = writer.newSharedScope()) {
            Page first = chain(scope, 1000, 0).getFirst();
            written.put(1, first);
            Page found = read.get(1);
            assertThat(ShelfService.numbers(found, 1000)).isEqualTo(numbers(0, 1000));
            long before = faults.moved();
            written.put(1, first);
            assertThat(read.read(read.get(1), 1)).isEqualTo(numbers(0, 1));
            assertThat(faults.moved() - before).isLessThan(3L * 4096);
        }
    }

    @Test
    void shouldSeeWithEachAnswerWhatItsWriterHasPassedBefore() {
        try (Scope scope = writer.newSharedScope()) {
            List<Page> pages = chain(scope, 500, 0);
            for (int round = 0; round < 20; round++) {
                pages.get(400).number(round);
                written.put(1, pages.getFirst());
                assertThat(ShelfService.numbers(read.get(1), 500).get(400)).isEqualTo(round);
            }
            // It grows into further runs.
            Page last = pages.getLast();
            for (int round = 0; round < 5; round++) {
                List<Page> more = chain(scope, 300, 1000);
                last.next(SharedObject.toRef(more.getFirst()));
                last = more.getLast();
                written.put(1, pages.getFirst());
                assertThat(ShelfService.numbers(read.get(1), 10_000)).hasSize(500 + 300 * (round + 1));
            }
        }
    }

    /** A page fetched up to the end of its run has more objects later. */
    @Test
    void shouldReadWhatIsAllocatedLaterOnAPageThatIsHeld() {
        try (Scope scope = writer.newSharedScope(64 << 10)) {
            Page parent = scope.create(Page.class);
            for (int i = 0; i < 200; i++) {
                scope.create(Page.class).text("so that the parent has a page of its own " + i);
            }
            Page before = scope.create(Page.class);
            before.number(1);
            written.put(1, before);
            // The reader now has this object's page as it is.
            Page held = read.get(1);
            Page child = scope.create(Page.class);
            child.number(2);
            parent.next(SharedObject.toRef(child));
            before.next(SharedObject.toRef(child));
            written.put(1, parent);
            Ref<Page> later = read.get(1).next();
            try (Scope mine = reader.newSharedScope()) {
                Page own = mine.create(Page.class);
                own.next(later);
                assertThat(ShelfService.numbers(own, 2)).isEqualTo(List.of(0L, 2L));
            }
            assertThat(ShelfService.numbers(held, 1)).isEqualTo(numbers(1, 1));
        }
    }

    /** Required: an exception, rather than the former content. */
    @Test
    void shouldRefuseToReadWhatItsWriterHasClosed() {
        Page found;
        try (Scope scope = writer.newSharedScope()) {
            written.put(1, chain(scope, 100, 0).getFirst());
            found = read.get(1);
            assertThat(ShelfService.numbers(read.get(1), 100)).isEqualTo(numbers(0, 100));
        }
        // The server is told before the scope's memory is reused, and tells all nodes that have fetched.
        Await.until("the reader has heard", () -> isGone(found));
        assertFails(Status.Code.INVALID_ARGUMENT, () -> read.read(found, 1));
        assertThrown(RpcException.class, () -> read.get(1), "gone", "closed");
        // New objects there are not mistaken for the former ones.
        try (Scope other = writer.newSharedScope()) {
            written.put(2, chain(other, 100, 7000).getFirst());
            assertThat(ShelfService.numbers(read.get(2), 100)).isEqualTo(numbers(7000, 100));
            assertThat(isGone(found)).isTrue();
        }
    }

    /** Whether a Ref from there can no longer be followed; until then, what is read is right. */
    private static boolean isGone(Page page) {
        try {
            Page next = ShelfService.another(page);
            next.next(next);
            assertThat(next.number()).isEqualTo(1);
            return false;
        } catch (RefException e) {
            assertThat(e).hasMessageContaining("closed");
            return true;
        }
    }

    @Test
    void shouldReadAScopeThatWasResetAsANewOne() {
        try (Scope scope = writer.newSharedScope()) {
            written.put(1, chain(scope, 100, 0).getFirst());
            assertThat(ShelfService.numbers(read.get(1), 100)).isEqualTo(numbers(0, 100));
            scope.reset();
            assertThat(catchThrowableOfType(RpcException.class, () -> read.get(1)))
                    .hasMessageContaining("gone");
            written.put(1, chain(scope, 100, 500).getFirst());
            assertThat(ShelfService.numbers(read.get(1), 100)).isEqualTo(numbers(500, 100));
        }
    }

    @Test
    void shouldKeepWhatTheServerAdopts() {
        try (Scope scope = writer.newSharedScope()) {
            written.keep(1, chain(scope, 1000, 0).getFirst());
        }
        writer.close();
        Page found = read.get(1);
        assertThat(ShelfService.numbers(read.get(1), 1000)).isEqualTo(numbers(0, 1000));
        assertThat(read.read(found, 1000)).isEqualTo(numbers(0, 1000));
        read.drop(1);
        Await.until("the reader has heard", () -> isGoneAtAll(found));
    }

    @Test
    void shouldReadOthersObjectsThatCameByAFuture() throws Exception {
        try (Scope scope = writer.newSharedScope()) {
            written.put(1, chain(scope, 1000, 0).getFirst());
            for (int i = 0; i < 20; i++) {
                assertThat(ShelfService.numbers(read.later(1).get(), 1000)).isEqualTo(numbers(0, 1000));
                // No thread waits for this one: the client's reactor finds its answer, and must not be delayed by it.
                assertThat(read.later(1)
                                .thenApply(page -> ShelfService.numbers(page, 1000))
                                .get())
                        .isEqualTo(numbers(0, 1000));
            }
        }
    }

    @Test
    void shouldFollowRefsFromOneNodesScopeIntoAnothers() {
        try (Scope scope = writer.newSharedScope();
                Scope mine = reader.newSharedScope()) {
            written.put(1, chain(scope, 100, 1).getFirst());
            Page head = mine.create(Page.class);
            head.next(SharedObject.toRef(read.get(1)));
            assertThat(ShelfService.numbers(ShelfService.another(head), 101)).isEqualTo(numbers(0, 101));
            read.put(2, head);
            assertThat(read.read(head, 101)).isEqualTo(numbers(0, 101));
            assertThat(ShelfService.numbers(written.get(2), 101)).isEqualTo(numbers(0, 101));
        }
    }

    /** A home that is busy when a scope is closed learns of it at its next look. */
    @Test
    void shouldEndScopesForOthersAlsoIfTheHomeCannotBeToldAtOnce() throws Exception {
        RpcServer slow =
                serve(shelves().runtimeFolder(directory.resolve("slow")).stuckAfter(Duration.ofMinutes(1)));
        // The home has this long to answer that a scope is opened, and misses that deadline when the scope is closed.
        RpcChannel node = open(channelTo(slow).defaultTimeout(Duration.ofSeconds(3)));
        RpcChannel other = open(channelTo(slow));
        try {
            Shelf patient = node.stub(Shelf.class, within(Duration.ofMinutes(1)));
            Scope scope = node.newSharedScope();
            Page first = chain(scope, 100, 0).getFirst();
            patient.put(1, first);
            Page found = other.stub(Shelf.class, within(Duration.ofMinutes(1))).get(1);
            assertThat(ShelfService.numbers(found, 100)).isEqualTo(numbers(0, 100));
            CompletableFuture<Void> held = Concurrently.start(() -> {
                patient.hold(-2, first);
                return null;
            });
            Await.latch(shelf.holding);
            // The handler occupies the poller that would learn of it, until another thread polls.
            scope.close();
            shelf.letGo.countDown();
            Await.until("the reader has heard", () -> isGoneAtAll(found));
            held.get(30, TimeUnit.SECONDS);
        } finally {
            shelf.letGo.countDown();
        }
    }

    @Test
    void shouldGiveAwayNothingThatIsNotShared() {
        try (Scope scope = writer.newSharedScope();
                Scope own = writer.newScope()) {
            Page first = chain(scope, 1, 0).getFirst();
            Page secret = chain(own, 1, 99).getFirst();
            first.next(SharedObject.toRef(secret));
            written.put(1, first);
            assertThat(written.read(secret, 1)).isEqualTo(numbers(99, 1));
            Page found = read.get(1);
            assertThat(found.number()).isZero();
            assertThrown(RefException.class, () -> found.next(found), "open for others");
            written.put(2, secret);
            assertThrown(RpcException.class, () -> read.get(2), "open for others");
        }
    }

    /** A handler keeps the node's memory mapped, but its objects are gone, and other nodes are told so. */
    @Test
    void shouldSayThatWhatWasANodesIsGoneWhileItsMemoryIsNot() throws Exception {
        RpcChannel node = open();
        Page first = chain(node.newSharedScope(), 100, 0).getFirst();
        CompletableFuture<Status.Code> held =
                Concurrently.start(() -> codeOf(() -> node.stub(Shelf.class).hold(1, first)));
        try {
            Await.latch(shelf.holding);
            Page found = read.get(1);
            assertThat(ShelfService.numbers(found, 100)).isEqualTo(numbers(0, 100));
            node.close();
            Await.until("the reader has heard", () -> isGoneAtAll(found));
            assertFails(Status.Code.INTERNAL, () -> read.get(1)).hasMessageContainingAll("gone", "node");
        } finally {
            shelf.letGo.countDown();
        }
        assertThat(held.get(30, TimeUnit.SECONDS)).isNotEqualTo(Status.Code.OK);
    }

    @Test
    void shouldGoOnWhenANodeIsKilled() throws Exception {
        try (Scope scope = reader.newSharedScope()) {
            read.put(2, chain(scope, 100, 50).getFirst());
            Page found;
            try (ChildJvm child = ChildJvm.start(
                    EchoChild.class, directory, "share", server.address().orElseThrow())) {
                child.awaitLine("shared");
                found = read.get(1);
                assertThat(ShelfService.numbers(read.get(1), 10)).isEqualTo(numbers(0, 10));
                child.kill();
            }
            Await.until("the reader has heard", () -> isGoneAtAll(found));
            assertThat(catchThrowableOfType(RpcException.class, () -> read.get(1)))
                    .hasMessageContaining("gone");
            assertThat(ShelfService.numbers(written.get(2), 100)).isEqualTo(numbers(50, 100));
            Await.equal("connections", 2, server::connections);
        }
    }
}
