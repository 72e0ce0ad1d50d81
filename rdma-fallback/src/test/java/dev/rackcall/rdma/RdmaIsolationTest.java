package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.Scope;
import java.net.URI;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Isolation over RDMA: the modes mean the same as in shared memory; a seal is sent as a snapshot. */
class RdmaIsolationTest extends RpcFixture {
    private RpcChannel channel;

    @BeforeEach
    void start() {
        RpcServer server = serve(serving(Library.class, new LibraryService())
                .minimumIsolation(Isolation.SNAPSHOT)
                .listen(URI.create("rdma://127.0.0.1:0")));
        channel = open(EchoServer.channelTo(Library.class, server));
    }

    @ParameterizedTest
    @EnumSource(names = {"SNAPSHOT", "SEALED", "AUTO"})
    void shouldReadIsolatedArguments(Isolation isolation) {
        Library library = channel.stub(Library.class, CallOptions.DEFAULT.withIsolation(isolation));
        try (Scope scope = channel.newScope()) {
            Library.Book book = LibraryService.fill(scope, "title", 3);
            assertThat(library.texts(book)).containsExactly("title 0", "title 1", "title 2");
            // A completed call leaves the scope to its owner.
            assertThat(library.texts(LibraryService.fill(scope, "more", 1))).containsExactly("more 0");
        }
    }

    @Test
    void shouldRefuseWhatIsNotIsolatedEnough() {
        Library library = channel.stub(Library.class, CallOptions.DEFAULT.withIsolation(Isolation.TRUSTED));
        try (Scope scope = channel.newScope()) {
            Library.Book book = LibraryService.fill(scope, "title", 1);
            assertFails(Status.Code.FAILED_PRECONDITION, () -> library.texts(book));
        }
    }

    @Test
    void shouldReadIsolatedArgumentsOfTheSharedArena() {
        Library library = channel.stub(Library.class, CallOptions.DEFAULT.withIsolation(Isolation.SNAPSHOT));
        try (Scope scope = channel.newSharedScope()) {
            assertThat(library.texts(LibraryService.fill(scope, "title", 2))).containsExactly("title 0", "title 1");
        }
    }
}
