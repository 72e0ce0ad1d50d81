package dev.rackcall.rpc.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.PeerCredentials;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.testkit.Concurrently;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.Test;

/**
 * A client of another user that reaches the server's socket because folder and socket are open to all: the server asks
 * the kernel for the client's user.
 */
class StrangerTest extends RpcFixture {
    private static final int NOBODY = 65_534;
    /** The same user as before. */
    private static final int SAME = -1;

    private static final boolean IS_ARM = System.getProperty("os.arch").equals("aarch64");

    /**
     * Changes the calling thread only; the C library's function of that name would change all threads. The kernel
     * reports the user of the thread that connects.
     */
    private static void effectiveUser(int uid) throws Throwable {
        MethodHandle syscall = Linker.nativeLinker()
                .downcallHandle(
                        Linker.nativeLinker().defaultLookup().findOrThrow("syscall"),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG),
                        Linker.Option.firstVariadicArg(1));
        long setresuid = IS_ARM ? 147 : 117;
        assertThat((long) syscall.invokeExact(setresuid, (long) SAME, (long) uid, (long) SAME))
                .as("setresuid")
                .isZero();
    }

    private static UnixSocket connectAs(int uid, Path socket) {
        return as(uid, () -> UnixSocket.connect(socket));
    }

    private static <T> T as(int uid, Callable<T> work) {
        // On a thread that ends afterwards: nothing else may run as that user.
        return Concurrently.get(Concurrently.start(() -> {
            try {
                effectiveUser(uid);
                try {
                    return work.call();
                } finally {
                    effectiveUser(0);
                }
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }));
    }

    @Test
    void shouldRefuseClientsOfOtherUsers() throws Exception {
        assumeTrue(Uid.current() == 0, "NOT TESTED: only root can change its user");
        RpcServer server = serve(Echo.class, new EchoService());
        Path socket = RuntimeDirectory.at(directory)
                .instances("/test/echo")
                .getFirst()
                .socket();
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-rw-rw-"));
        try (UnixSocket stranger = connectAs(NOBODY, socket)) {
            Message answer = stranger.receive(Duration.ofSeconds(30)).orElseThrow();
            Handshake.ServerHello serverHello = Handshake.ServerHello.decode(answer.bytes());
            assertThat(serverHello.status().code()).isEqualTo(Status.Code.PERMISSION_DENIED);
            assertThat(serverHello.status().description()).contains("/test/echo", "uid 0", "uid " + NOBODY);
            assertThat(answer.fds()).as("descriptors that came with it").isEmpty();
            assertThat(stranger.receive(Duration.ofSeconds(30)).orElseThrow().isEnd())
                    .isTrue();
        }
        assertThat(server.connections()).isZero();
        assertThat(connect(Echo.class).add(1, 2)).isEqualTo(3);
    }

    @Test
    void shouldSayWhoseFolderItIs() throws Exception {
        assumeTrue(Uid.current() == 0, "NOT TESTED: only root can change its user");
        serve(Echo.class, new EchoService());
        // The kernel asks for the way to the folder, too.
        for (Path parent = directory.getParent();
                parent != null && !parent.equals(Path.of("/tmp"));
                parent = parent.getParent()) {
            Files.setPosixFilePermissions(parent, PosixFilePermissions.fromString("rwx--x--x"));
        }
        Status status = as(NOBODY, () -> {
            try (RpcChannel channel = channel(Echo.class).open()) {
                return Status.OK;
            } catch (RpcException e) {
                return e.status();
            }
        });
        assertThat(status.code()).as(status.toString()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(status.description()).contains(directory.toString(), "belongs to uid 0", "RACKCALL_DIR");
    }

    @Test
    void shouldRefuseServersOfOtherUsers() {
        Transports.requireOwn(new PeerCredentials(1, Uid.current(), 1), "/test/echo");
        PeerCredentials another = new PeerCredentials(77, Uid.current() + 1, 1);
        assertFails(Status.Code.PERMISSION_DENIED, () -> Transports.requireOwn(another, "/test/echo"))
                .hasMessageContainingAll("pid 77", "RACKCALL_DIR");
    }

    @Test
    void shouldServeOnlyUsersOnTheAccessList() throws Exception {
        List<RecordedEvent> events = new CopyOnWriteArrayList<>();
        try (RecordingStream recording = new RecordingStream()) {
            recording.enable("dev.rackcall.AccessRefused");
            recording.onEvent("dev.rackcall.AccessRefused", events::add);
            recording.startAsync();
            serve(serving(Echo.class, new EchoService()).allowUsers(Echo.class, Uid.current() + 1));
            assertFails(Status.Code.PERMISSION_DENIED, () -> connect(Echo.class))
                    .hasMessageContainingAll("/test/echo", "uid " + Uid.current(), "allowUsers");
            recording.stop();
        }
        assertThat(events).anySatisfy(event -> {
            assertThat(event.getString("channel")).isEqualTo("/test/echo");
            assertThat(event.getString("client")).contains("uid " + Uid.current(), "pid ");
        });
    }

    @Test
    void shouldServeAnotherUserOnTheAccessList() throws Exception {
        assumeTrue(Uid.current() == 0, "NOT TESTED: only root can change its user");
        RpcServer server = serve(serving(Echo.class, new EchoService()).allowUsers(Echo.class, Uid.current(), NOBODY));
        assertThat(connect(Echo.class).add(1, 2)).isEqualTo(3);
        Path socket = RuntimeDirectory.at(directory)
                .instances("/test/echo")
                .getFirst()
                .socket();
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
        Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-rw-rw-"));
        try (UnixSocket other = connectAs(NOBODY, socket)) {
            other.send(new byte[] {1});
            Message answer = other.receive(Duration.ofSeconds(30)).orElseThrow();
            // Not refused for its user, but for what it has sent.
            assertThat(Handshake.ServerHello.decode(answer.bytes()).status().code())
                    .isEqualTo(Status.Code.FAILED_PRECONDITION);
        }
        assertThat(server.connections()).isEqualTo(1);
    }

    @Test
    void shouldRefuseAnAccessListOfAServiceThatIsNotServed() {
        assertThatThrownBy(() -> RpcServer.builder().allowUsers(Echo.class, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("does not serve");
    }
}
