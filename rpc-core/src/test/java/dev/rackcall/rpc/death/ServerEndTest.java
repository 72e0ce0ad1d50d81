package dev.rackcall.rpc.death;

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
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import dev.rackcall.testkit.Usage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A server that closes, gracefully or not, during calls of every kind; a server that never started; a server without
 * clients.
 */
class ServerEndTest extends RpcFixture {
    private static final Duration BOUND = Duration.ofSeconds(100);

    @TempDir
    Path outside;

    private final CountDownLatch stuck = new CountDownLatch(1);

    /** Has a handler that returns only when the test lets it. */
    private final class Stubborn extends EchoService {
        @Override
        public void crash(String message) {
            blocking.incrementAndGet();
            Await.latch(stuck);
        }
    }

    private final Stubborn service = new Stubborn();

    static List<Dispatch> dispatches() {
        return List.of(Dispatch.direct(), Dispatch.workers(1), Dispatch.virtualThreads());
    }

    @AfterEach
    void goOn() {
        stuck.countDown();
    }

    private RpcServer.Builder server() {
        return serving(Echo.class, service);
    }

    private RpcChannel channel() {
        return open(channel(Echo.class).waiting(WaitStrategy.blocking()));
    }

    /** Creates the resources that a process keeps. */
    private void warmUp() throws Exception {
        try (RpcServer server = server().start()) {
            channel().close();
            Await.equal("connections", 0, server::connections);
        }
    }

    @ParameterizedTest
    @MethodSource("dispatches")
    void shouldEndCallsOfEveryKindWhenTheServerCloses(Dispatch dispatch) throws Exception {
        warmUp();
        Map<String, Integer> before = Usage.now();
        RpcServer server = server().dispatch(dispatch).start();
        Echo echo = channel().stub(Echo.class);
        CompletableFuture<Integer> asynchronous = echo.later(1, 60_000);
        try (Stream<Integer> stream = echo.count(0, 1_000_000)) {
            assertThat(stream.limit(10).count()).isEqualTo(10);
        }
        Stream<Integer> unread = channel().stub(Echo.class).count(0, 1_000_000);
        List<CompletableFuture<Status.Code>> calls = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            // Connected before the close begins: a client that connects later gets another message.
            Echo own = channel().stub(Echo.class);
            // With one worker, two of them wait in its queue; with direct dispatch each takes a thread from its poller.
            calls.add(Concurrently.start(() -> codeOf(() -> own.crash("never"))));
        }
        int handlers = dispatch.kind() == Dispatch.Kind.WORKERS ? 1 : 3;
        Await.equal("handlers that do not return", handlers, service.blocking::get);
        echo.note("one more");
        assertThat(server.shutdown(Duration.ofMillis(50))).isFalse();
        for (CompletableFuture<Status.Code> call : calls) {
            assertThat(call).succeedsWithin(BOUND).isEqualTo(Status.Code.UNAVAILABLE);
        }
        assertThat(asynchronous)
                .failsWithin(BOUND)
                .withThrowableThat()
                .havingCause()
                .withMessageContaining("UNAVAILABLE");
        assertThat(codeOf(() -> unread.forEach(Objects::requireNonNull))).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(codeOf(() -> echo.add(1, 1))).isEqualTo(Status.Code.UNAVAILABLE);
        stuck.countDown();
        closeAll();
        Await.equal("what is left", Map.of(), () -> Usage.grownSince(before));
        assertThat(directory.toFile().list()).isNullOrEmpty();
    }

    @Test
    void shouldLeaveNothingOfAServerThatCannotStart() throws Exception {
        try (RpcServer other =
                serving(Library.class, new LibraryService()).exclusive().start()) {
            Map<String, Integer> before = Usage.now();
            for (int i = 0; i < 5; i++) {
                // The second channel has a server already, which is exclusive.
                RpcServer.Builder twice =
                        server().service(Library.class, new LibraryService()).dispatch(Dispatch.workers(2));
                assertThat(codeOf(twice::start)).isEqualTo(Status.Code.ALREADY_EXISTS);
            }
            Await.equal("what is left", Map.of(), () -> Usage.grownSince(before));
            server().start().close();
            assertThat(other.connections()).isZero();
        }
        assertThat(directory.toFile().list()).isNullOrEmpty();
    }

    @Test
    void shouldStartWhileClientsRemoveWhatADeadServerLeft() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        Callable<Boolean> client = () -> {
            while (!over.get()) {
                // The client only hears that there is no server.
                assertThat(codeOf(() -> channel(Echo.class).open().close()))
                        .isIn(Status.Code.OK, Status.Code.NOT_FOUND, Status.Code.UNAVAILABLE);
            }
            return true;
        };
        List<CompletableFuture<Boolean>> clients = List.of(Concurrently.start(client), Concurrently.start(client));
        try {
            for (int i = 0; i < 40; i++) {
                // The state after a server was killed. The clients may remove the directory between the two looks.
                Await.until(
                        "the directory",
                        () -> directory.toFile().mkdirs() || directory.toFile().isDirectory());
                leave("test+echo@aaaaaa");
                leave("test+echo@aaaaaa.lock");
                server().start().close();
            }
        } finally {
            over.set(true);
            assertThat(clients).allSatisfy(each -> assertThat(each).succeedsWithin(BOUND));
        }
    }

    /** The file is complete when it gets its name, unless the clients have just removed the directory. */
    private void leave(String name) throws IOException {
        Path file = Files.writeString(outside.resolve(name), "pid 1\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        try {
            Files.move(file, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        } catch (NoSuchFileException e) {
            Files.delete(file);
        }
    }
}
