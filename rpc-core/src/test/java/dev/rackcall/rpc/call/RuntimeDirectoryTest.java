package dev.rackcall.rpc.call;

import static dev.rackcall.rpc.contract.RpcFixture.assertFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.runtime.ServerInstance;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The runtime directory, where servers put their sockets: an unusable one is reported before anything changes there.
 */
class RuntimeDirectoryTest {
    private static final int SOMEBODY = 12_345;

    @TempDir
    Path root;

    private Path directory;

    /** A directory finds the servers of many hosts, the runtime folder those of this host. */
    @Test
    void shouldHaveOneMeaningOfADirectory() {
        for (Class<?> builder : List.of(RpcChannel.Builder.class, RpcServer.Builder.class)) {
            assertThat(builder.getMethods())
                    .filteredOn(method -> method.getName().equals("directory"))
                    .singleElement()
                    .satisfies(method -> assertThat(method.getParameterTypes()).containsExactly(URI.class));
            assertThat(builder.getMethods())
                    .filteredOn(method -> method.getName().equals("runtimeFolder"))
                    .singleElement()
                    .satisfies(method -> assertThat(method.getParameterTypes()).containsExactly(Path.class));
        }
    }

    @BeforeEach
    void name() {
        directory = root.resolve("runtime");
    }

    private RpcServer serve() {
        return RpcServer.builder()
                .service(Echo.class, new EchoService())
                .runtimeFolder(directory)
                .start();
    }

    private RpcChannel open() {
        return RpcChannel.builder("/test/echo").runtimeFolder(directory).open();
    }

    private void assertServes() {
        try (RpcServer server = serve();
                RpcChannel channel = open()) {
            assertThat(channel.stub(Echo.class).add(1, 2)).isEqualTo(3);
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    @Test
    void shouldMakeAPrivateDirectoryAndRemoveItWhenItIsEmpty() throws IOException {
        directory = directory.resolve("made/on/the/way");
        try (RpcServer server = serve()) {
            assertThat(server.channels()).containsExactly("/test/echo");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory)))
                    .isEqualTo("rwx------");
        }
        assertThat(directory).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "shop",
                "/shop/",
                "//shop",
                "/.",
                "/..",
                "/shop/../cart",
                "/shop/./cart",
                "/a b",
                "/\u00e4"
            })
    void shouldRefuseWhatIsNoChannelName(String name) {
        assertFails(
                        Status.Code.INVALID_ARGUMENT,
                        () -> RpcChannel.builder(name).runtimeFolder(directory).open())
                .hasMessageContainingAll("'" + name + "' is not a channel name", "/shop/cart");
    }

    @Test
    void shouldTakeSegmentsThatBeginWithDots() {
        // There is just no such server.
        assertFails(Status.Code.NOT_FOUND, RpcChannel.builder("/...shop/.cart").runtimeFolder(directory)::open);
    }

    @Test
    void shouldRefuseADirectoryThatOthersCanWrite() throws IOException {
        Files.createDirectory(directory);
        for (String mode : new String[] {"rwxrwx---", "rwx----w-", "rwxrwxrwx"}) {
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(mode));
            assertFails(Status.Code.PERMISSION_DENIED, this::serve).hasMessageContainingAll(mode, "chmod 700");
        }
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertServes();
    }

    @Test
    void shouldRefuseADirectoryOfAnotherUser() throws IOException {
        Files.createDirectory(directory);
        try {
            Files.setAttribute(directory, "unix:uid", SOMEBODY);
        } catch (IOException e) {
            assumeTrue(false, "only root can give a directory away");
        }
        assertFails(Status.Code.PERMISSION_DENIED, this::serve).hasMessageContaining("uid " + SOMEBODY);
    }

    @Test
    void shouldRefuseALinkAndAFile() throws IOException {
        Path elsewhere = Files.createDirectory(root.resolve("elsewhere"));
        Files.createSymbolicLink(directory, elsewhere);
        assertFails(Status.Code.PERMISSION_DENIED, this::serve);
        Files.delete(directory);
        Files.createFile(directory);
        assertFails(Status.Code.PERMISSION_DENIED, this::serve);
        directory = directory.resolve("below a file");
        assertFails(Status.Code.FAILED_PRECONDITION, this::serve)
                .hasMessageContainingAll(directory.toString(), "RACKCALL_DIR");
        assertThat(elsewhere).isEmptyDirectory();
    }

    @Test
    void shouldRefuseADirectoryThatCannotBeWritten() {
        // Not even root can create directories there.
        directory = Path.of("/proc/self/rackcall");
        assertFails(Status.Code.FAILED_PRECONDITION, this::serve)
                .hasMessageContainingAll("/proc/self/rackcall", "RACKCALL_DIR");
    }

    @Test
    void shouldServeFromADirectoryWhosePathIsLongerThanASocketsAddress() {
        directory = directory.resolve("d".repeat(100)).resolve("e".repeat(100));
        assertServes();
    }

    @Test
    void shouldSayThatAChannelNameIsTooLong() {
        assertFails(Status.Code.INVALID_ARGUMENT, () -> RpcChannel.open("/" + "n".repeat(200)))
                .hasMessageContainingAll("201 characters", "80");
    }

    @Test
    void shouldTakeOverWhatADeadServerLeft() throws IOException {
        leave();
        assertServes();
    }

    @Test
    void shouldRemoveWhatADeadServerLeftWhenAClientComes() throws IOException {
        leave();
        assertFails(Status.Code.NOT_FOUND, this::open).hasMessageContainingAll("/test/echo", directory.toString());
        assertThat(directory).isEmptyDirectory();
        assertServes();
    }

    @Test
    void shouldNotTouchTheFilesOfALivingServer() {
        try (RpcServer server = serve()) {
            assertThat(RuntimeDirectory.at(directory).cleanAll()).isEmpty();
            assertThatCode(() -> open().close()).doesNotThrowAnyException();
            assertThat(server.channels()).containsExactly("/test/echo");
        }
    }

    /** The state after a server was killed: no process listens or holds the lock. */
    private void leave() throws IOException {
        Files.createDirectory(directory);
        file("test+echo@aaaaaa.lock", "pid 1\n", "rw-------");
        Files.createFile(directory.resolve("test+echo@aaaaaa"));
    }

    /** Cleaning a directory that is not a runtime directory deletes nothing. */
    @Test
    void shouldTakeNoOtherProgramsLockFileForADeadServers() throws IOException {
        Files.createDirectory(
                directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        Path dead = file("dead@aaaaaa.lock", "pid 1 of long ago\n", "rw-------");
        Path yarn = file("yarn@aaaaaa.lock", "# yarn lockfile v1\n", "rw-r--r--");
        Path hidden = file(".pwd.lock", "", "rw-------");
        Path similar = file("similar@aaaaaa.lock", "pid 12\nand more\n", "rw-------");
        Path open = file("open@aaaaaa.lock", "pid 12\n", "rw-r--r--");
        Path link = Files.createSymbolicLink(directory.resolve("link@aaaaaa.lock"), dead);
        RuntimeDirectory runtime = RuntimeDirectory.at(directory);
        assertThat(runtime.all()).extracting(ServerInstance::channel).containsExactly("/dead");
        assertThat(runtime.channels()).as("channels of living servers").isEmpty();
        assertThat(runtime.cleanAll()).containsExactly("/dead");
        assertThat(runtime.clean(runtime.instance("/yarn", "aaaaaa"))).isFalse();
        assertThat(dead).doesNotExist();
        assertThat(yarn).hasContent("# yarn lockfile v1\n");
        assertThat(similar).hasContent("pid 12\nand more\n");
        assertThat(hidden).exists();
        assertThat(open).exists();
        assertThat(Files.isSymbolicLink(link)).isTrue();
    }

    /** A server that was killed before it wrote its pid. */
    @Test
    void shouldCleanAnEmptyLockFileOfADirectoryThatServersMade() throws IOException {
        Files.createDirectory(
                directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        file("begun@aaaaaa.lock", "", "rw-------");
        assertThat(RuntimeDirectory.at(directory).cleanAll()).containsExactly("/begun");
        assertThat(directory).doesNotExist();
    }

    private Path file(String name, String text, String mode) throws IOException {
        Path file = Files.writeString(directory.resolve(name), text);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }
}
