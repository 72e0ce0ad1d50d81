package dev.rackcall.rpc.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.runtime.ServerInstance;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.shm.os.file.OwnerLock;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Servers at their sockets: a successor's, and those of clients that hang up. */
class ChannelSocketTest extends RpcFixture {
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final int CLIENTS = 20;

    private ServerInstance server() {
        return RuntimeDirectory.at(directory).instances("/test/echo").getFirst();
    }

    private Path socket() {
        return server().socket();
    }

    /** An administrator may have deleted the folder of a running server, and started another. */
    @Test
    void shouldLeaveItsSuccessorsSocket() throws IOException {
        RpcServer first = serve(Echo.class, new EchoService());
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
        serve(Echo.class, new EchoService());
        first.close();
        assertThat(socket()).exists();
        assertThat(connect(Echo.class).add(1, 2)).isEqualTo(3);
    }

    /** Something has tidied up the folder. */
    @Test
    void shouldListenAgainWhereItsSocketWasDeleted() throws IOException {
        serve(Echo.class, new EchoService());
        Files.delete(socket());
        assertThat(connect(Echo.class).add(1, 2)).isEqualTo(3);
    }

    @Test
    void shouldSayThatALivingServersSocketIsMissing() throws IOException {
        ServerInstance server = RuntimeDirectory.at(directory).instance("/test/echo", RuntimeDirectory.newId());
        try (OwnerLock _ = OwnerLock.tryAcquire(server.lock()).orElseThrow()) {
            assertFails(Status.Code.UNAVAILABLE, channel(Echo.class).connectTimeout(Duration.ofMillis(50))::open)
                    .hasMessageContainingAll(
                            "its server (pid " + ProcessHandle.current().pid() + ") lives",
                            server.socket().toString(),
                            "restart it");
        }
    }

    @Test
    void shouldDeleteItsOwnSocket() {
        RpcServer server = serve(Echo.class, new EchoService());
        Path socket = socket();
        assertThat(socket).exists();
        server.close();
        assertThat(socket).doesNotExist();
    }

    /** The poller is busy in the meantime; when it is free, the socket's number may already be another file's. */
    @Test
    void shouldNotUseTheSocketOfAClientThatHungUpBeforeItWasConnected() throws Exception {
        PrintStream before = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        List<FileInputStream> files = new ArrayList<>();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        EchoService service = new EchoService() {
            @Override
            public boolean block(long millis) {
                inside.countDown();
                Await.latch(end);
                return super.block(millis);
            }
        };
        RpcServer server = serve(serving(Echo.class, service)
                .dispatch(Dispatch.direct())
                .pollers(1)
                .stuckAfter(BOUND));
        Echo echo = open(channel(Echo.class)).stub(Echo.class, within(BOUND));
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            CompletableFuture<Boolean> busy = Concurrently.start(() -> echo.block(1));
            Await.latch(inside);
            Await.equal("calls", 1, server::callsUnderWay);
            for (int i = 0; i < CLIENTS; i++) {
                knock().close();
            }
            // Clients are accepted in order: this one's hello comes after the others' were answered.
            try (UnixSocket last = knock()) {
                assertThat(last.receive(BOUND)).isPresent();
                for (int i = 0; i < 3 * CLIENTS; i++) {
                    files.add(new FileInputStream("/proc/self/stat"));
                }
                end.countDown();
                assertThat(Concurrently.get(busy)).isFalse();
            }
            Await.equal("connections", 1, server::connections);
        } finally {
            end.countDown();
            System.setErr(before);
            for (FileInputStream file : files) {
                file.close();
            }
        }
        assertThat(log.toString(StandardCharsets.UTF_8)).doesNotContain("descriptor", "EBADF", "EPERM", "failed");
    }

    private UnixSocket knock() {
        UnixSocket socket = UnixSocket.connect(socket());
        socket.send(new Handshake.ClientHello(ControlLayout.VERSION, "/test/echo", 8, 1 << 16).encode());
        return socket;
    }
}
