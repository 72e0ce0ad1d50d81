package dev.rackcall.cp.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process of another user listens in place of the agent: the tenant checks the user before it sends anything. */
class AgentHandshakeTest {
    private static final int SOMEBODY = 65_533;
    private static final int NOBODY = 65_534;

    @TempDir
    Path folder;

    /**
     * Listens as another user. The system call changes only the calling thread, unlike the C library's function; the
     * thread ends afterwards and runs nothing else.
     */
    private static UnixSocket listenAs(int uid, Path path) {
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
        long setresuid = System.getProperty("os.arch").equals("aarch64") ? 147 : 117;
        CompletableFuture<UnixSocket> listening = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            try {
                assertThat((long) syscall.invokeExact(setresuid, -1L, (long) uid, -1L))
                        .as("setresuid")
                        .isZero();
                listening.complete(UnixSocket.listen(path, 4));
            } catch (Throwable e) {
                listening.completeExceptionally(e);
            }
        });
        return listening.orTimeout(30, TimeUnit.SECONDS).join();
    }

    @Test
    void shouldNotTalkToAnAgentOfAnotherUser() throws Exception {
        assumeTrue(Uid.current() == 0, "NOT TESTED: only root can be another user");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        Path path = folder.resolve("agent");
        try (UnixSocket stranger = listenAs(NOBODY, path)) {
            Hosts.fails(
                    Kind.REFUSED,
                    "user " + NOBODY + " listens at " + stranger + ", which user " + SOMEBODY + " does not trust",
                    () -> AgentHandshake.say(path, "t", SessionLayout.VERSION, SOMEBODY, Patience.begin()));
            try (UnixSocket caller = stranger.accept().orElseThrow()) {
                assertThat(caller.receive(Duration.ofSeconds(30)).orElseThrow().isEnd())
                        .as("what it received")
                        .isTrue();
            }
        }
    }
}
