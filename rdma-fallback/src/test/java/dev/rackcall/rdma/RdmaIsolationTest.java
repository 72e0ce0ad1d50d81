package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.FreePort;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Isolation over RDMA: the modes mean the same as in shared memory; a seal is sent as a snapshot. */
@Timeout(60)
class RdmaIsolationTest {
    private final URI address = URI.create("rdma://127.0.0.1:" + FreePort.find());

    @TempDir
    Path directory;

    private RpcServer server;
    private RpcChannel channel;

    @BeforeEach
    void start() {
        server = RpcServer.builder()
                .service(Library.class, new LibraryService())
                .minimumIsolation(Isolation.SNAPSHOT)
                .directory(directory)
                .listen(address)
                .start();
        channel = RpcChannel.builder("/test/library")
                .address(address)
                .arenaQuota(1 << 20)
                .open();
    }

    @AfterEach
    void stop() {
        channel.close();
        server.close();
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
            RpcException e = catchThrowableOfType(RpcException.class, () -> library.texts(book));
            assertThat(e.code()).isEqualTo(Status.Code.FAILED_PRECONDITION);
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
