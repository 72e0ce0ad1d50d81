package dev.rackcall.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.shm.Scope;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How calls share a connection's slots when something goes wrong at either end. */
@Timeout(60)
class SlotTest {
    private static final int SLOTS = 4;

    @TempDir
    Path directory;

    private RpcChannel open() {
        return RpcChannel.builder("/test/echo")
                .directory(directory)
                .slots(SLOTS)
                .open();
    }

    private static Status.Code codeOf(Runnable call) {
        return catchThrowableOfType(RpcException.class, call::run).code();
    }

    @Test
    void shouldNotOverrunAServerThatDoesNotTakeRequests() throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        try (RpcServer server = RpcServer.builder()
                        .service(Echo.class, new EchoService())
                        .directory(directory)
                        .stuckAfter(Duration.ofSeconds(30))
                        .interceptor(call -> {
                            if (call.method().name().equals("block")) {
                                held.countDown();
                            }
                            return CallObserver.NONE;
                        })
                        .start();
                RpcChannel other = open();
                RpcChannel channel = open()) {
            Thread holder =
                    Thread.ofPlatform().start(() -> other.stub(Echo.class).block(500));
            assertThat(held.await(20, TimeUnit.SECONDS)).isTrue();
            Echo echo = channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(Duration.ofMillis(10)));
            // None of these is sent, but each has a slot's turn.
            for (int i = 0; i < 5 * SLOTS; i++) {
                assertThat(codeOf(() -> echo.bytes(null)))
                        .isIn(Status.Code.INVALID_ARGUMENT, Status.Code.RESOURCE_EXHAUSTED);
            }
            assertThat(channel.stub(Echo.class).add(1, 2)).isEqualTo(3);
            holder.join();
            assertThat(server.connections()).isEqualTo(2);
        }
    }

    @Test
    void shouldReleaseResultsThatAnotherThreadThanThePollerMade() {
        try (RpcServer server = RpcServer.builder()
                        .service(Library.class, new LibraryService())
                        .directory(directory)
                        .dispatch(Dispatch.workers(2))
                        .start();
                RpcChannel channel =
                        RpcChannel.builder("/test/library").directory(directory).open();
                Scope scope = channel.newScope()) {
            Library library = channel.stub(Library.class);
            for (int i = 0; i < 50; i++) {
                channel.release(library.write("book", 2));
            }
            // Refused if the connection had been lost meanwhile: the scope belongs to the first one.
            assertThat(library.texts(LibraryService.fill(scope, "mine", 1))).containsExactly("mine 0");
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    @Test
    void shouldSurviveACancellationListenerThatThrows() throws InterruptedException {
        CountDownLatch told = new CountDownLatch(1);
        try (RpcServer server = RpcServer.builder()
                        .service(Echo.class, new EchoService())
                        .directory(directory)
                        .dispatch(Dispatch.virtualThreads())
                        .interceptor(call -> {
                            call.onCancel(() -> {
                                throw new IllegalStateException("a listener's mistake");
                            });
                            call.onCancel(told::countDown);
                            return CallObserver.NONE;
                        })
                        .start();
                RpcChannel kept = open()) {
            try (RpcChannel lost = open()) {
                assertThat(lost.stub(Echo.class).later(1, 500).cancel(true)).isTrue();
                assertThat(lost.stub(Echo.class).add(1, 2)).isEqualTo(3);
            }
            assertThat(told.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(kept.stub(Echo.class).add(2, 2)).isEqualTo(4);
            Await.equal("connections", 1, server::connections);
        }
    }
}
