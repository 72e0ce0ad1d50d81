package dev.rackcall.rpc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Library.Book;
import dev.rackcall.rpc.contract.Library.Page;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The contract of transports over shared memory: the arena that all clients of a channel share. */
public class SharedArenaCallTest extends SharedCallTest {
    @Test
    void shouldPassGraphsByPointerFromTheSharedArena() {
        try (Scope shared = channel.newSharedScope()) {
            assertThat(library.sum(chain(shared, 1000))).isEqualTo(499_500L);
        }
    }

    @Test
    void shouldKeepASharedScopeWhileItsServerShutsDownUntilItIsClosed() throws Exception {
        CompletableFuture<Boolean> ended;
        try (Scope shared = channel.newSharedScope()) {
            Page first = chain(shared, 10);
            ended = Concurrently.start(() -> server.shutdown(LONG));
            assertThat(stillDrains()).isTrue();
            assertThat(first.number()).isEqualTo(9);
        }
        assertThat(ended).succeedsWithin(Await.BOUND).isEqualTo(true);
    }

    @Test
    void shouldKeepASharedScopeThatIsResetWhileItsServerShutsDown() throws Exception {
        CompletableFuture<Boolean> ended;
        try (Scope shared = channel.newSharedScope()) {
            ended = Concurrently.start(() -> server.shutdown(LONG));
            assertThat(stillDrains()).isTrue();
            for (int i = 0; i < 300; i++) {
                shared.reset();
            }
            assertThat(chain(shared, 10).number()).isEqualTo(9);
            assertThat(stillDrains()).isTrue();
        }
        assertThat(ended).succeedsWithin(Await.BOUND).isEqualTo(true);
    }

    @Test
    void shouldSayThatAnObjectOfTheSharedArenaIsGoneWithItsConnection() {
        RpcChannel other = place(RpcChannel.builder("/test/library")).open();
        Page gone = chain(other.newSharedScope(), 1);
        other.close();
        assertFails(Status.Code.UNAVAILABLE, () -> library.sum(gone))
                .hasMessageContainingAll("'first'", "build it anew");
    }

    @Test
    void shouldKeepWhatTheServerAdoptsWhenTheClientIsGone() {
        try (RpcChannel other = place(RpcChannel.builder("/test/library")).open()) {
            Library stub = other.stub(Library.class);
            try (Scope scope = other.newSharedScope()) {
                stub.keep(LibraryService.fill(scope, "kept", 3));
            }
            Scope left = other.newSharedScope();
            stub.keep(LibraryService.fill(left, "also", 1));
        }
        assertThat(library.kept()).containsExactly("kept", "kept 0", "kept 1", "kept 2", "also", "also 0");
        library.dropKept();
        assertThat(library.kept()).isEmpty();
    }

    @Test
    void shouldNotAdoptFromAPrivateArena() {
        try (Scope scope = channel.newScope()) {
            Book book = LibraryService.fill(scope, "mine", 1);
            assertFails(Status.Code.FAILED_PRECONDITION, () -> library.keep(book))
                    .hasMessageContaining("newSharedScope");
        }
    }

    @Test
    void shouldPassObjectsOfTheSharedArenaThroughAnyChannelToItsServer() {
        try (RpcChannel other = place(RpcChannel.builder("/test/library")).open();
                Scope shared = other.newSharedScope()) {
            assertThat(library.sum(chain(shared, 10))).isEqualTo(45);
        }
    }

    @Test
    void shouldNotFollowRefsIntoScopesThatWereClosed() {
        Book gone;
        try (Scope scope = channel.newSharedScope()) {
            gone = LibraryService.fill(scope, "gone", 1);
        }
        assertFails(Status.Code.INVALID_ARGUMENT, () -> library.texts(gone)).hasMessageContaining("closed");
        assertThat(library.texts(library.write("t", 1))).isEqualTo(List.of("t 0"));
    }
}
