package dev.rackcall.directory.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.DirectoryContractTest;
import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.DirectoryException.Reason;
import dev.rackcall.directory.DirectoryOptions;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.shm.os.file.OwnerLock;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract over files, and failures that only files have. */
class FileDirectoryTest extends DirectoryContractTest {
    private static final ChannelName CART = ChannelName.of("/shop/cart");

    @TempDir
    Path folder;

    private Path root() {
        return folder.resolve("directory");
    }

    @Override
    protected URI address() {
        return root().toUri();
    }

    @Override
    protected DirectoryOptions options() {
        return DirectoryOptions.DEFAULT;
    }

    /** Removing a member's lock file expels the member. */
    @Override
    protected Losable losable() throws IOException {
        Set<Path> others = members();
        Directory directory = Directory.open(address());
        return new Losable(directory, () -> {
            for (Path file : members()) {
                if (!others.contains(file)) {
                    Files.delete(file);
                }
            }
        });
    }

    private Set<Path> members() throws IOException {
        try (Stream<Path> files = Files.list(root().resolve("members"))) {
            return files.collect(Collectors.toSet());
        }
    }

    @Test
    void shouldLeaveNothingWhenTheLastOneHasGone() throws IOException {
        Path alone = folder.resolve("alone");
        try (Directory directory = Directory.open(alone.toUri())) {
            directory.announce(CART, Endpoint.of("a", "here", 1));
            directory.claimArenas(3, () -> {});
            directory.claimMemory(10);
            assertThat(alone).isNotEmptyDirectory();
        }
        assertThat(alone).doesNotExist();
    }

    @Test
    void shouldRefuseADirectoryThatOthersCanWrite() throws IOException {
        Path open = Files.createDirectory(folder.resolve("open"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));

        assertThatThrownBy(() -> Directory.open(open.toUri()))
                .isInstanceOf(DirectoryException.class)
                .hasMessageContaining("chmod 700");
    }

    @Test
    void shouldOpenWhileTheLastOneLeaves() throws Exception {
        Path busy = folder.resolve("busy");
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            List<Future<?>> both = new ArrayList<>();
            for (int thread = 0; thread < 2; thread++) {
                both.add(threads.submit(() -> {
                    for (int i = 0; i < 50; i++) {
                        try (Directory directory = Directory.open(busy.toUri())) {
                            directory.announce(
                                    CART,
                                    Endpoint.of("e" + Thread.currentThread().threadId(), "here", 1));
                        }
                    }
                }));
            }
            for (Future<?> one : both) {
                one.get();
            }
        }
        assertThat(busy).doesNotExist();
    }

    @Test
    void shouldSayThatAFileIsNoDirectory() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "text");

        assertThatThrownBy(() -> Directory.open(file.toUri()))
                .isInstanceOfSatisfying(
                        DirectoryException.class, e -> assertThat(e.reason()).isEqualTo(Reason.UNAVAILABLE))
                .hasMessageContaining(file.toString());
    }

    @Test
    void shouldGiveUpWhenAnotherProcessHoldsTheLockForTooLong() {
        DirectoryOptions hasty = DirectoryOptions.DEFAULT.withTimeout(Duration.ofMillis(100));
        try (Directory directory = Directory.open(address(), hasty);
                OwnerLock stuck =
                        OwnerLock.tryAcquire(root().resolve("changes.lock")).orElseThrow()) {
            assertThatThrownBy(() -> directory.announce(CART, Endpoint.of("a", "here", 1)))
                    .isInstanceOfSatisfying(
                            DirectoryException.class,
                            e -> assertThat(e.reason()).isEqualTo(Reason.UNAVAILABLE))
                    .hasMessageContaining(stuck.path().toString());
        }
    }

    @Test
    void shouldPassOverEntriesThatNobodyHasWrittenWhole() throws Exception {
        try (Directory directory = Directory.open(address())) {
            directory.announce(CART, Endpoint.of("good", "here", 1));
            Path endpoints = root().resolve("entries/channels/shop/cart/@");
            Files.writeString(endpoints.resolve("short+"), "no line's end");
            Files.writeString(endpoints.resolve("json+"), "\n{\"id\":");
            Files.writeString(endpoints.resolve("liar+"), "\n{\"id\":\"other\",\"host\":\"x\"}");
            Files.writeString(endpoints.resolve("wrong+"), "\n{\"id\":\"wrong\",\"host\":\"\",\"load\":-1}");
            Files.write(endpoints.resolve("long+"), new byte[1 << 20]);
            Files.createSymbolicLink(endpoints.resolve("link+"), endpoints.resolve("good+"));

            assertThat(directory.endpoints(CART)).extracting(Endpoint::id).containsExactly("good");
        }
    }

    @Test
    void shouldTakeAnEntryOverThatBelongsToAMemberThatHasNeverBeen() throws IOException {
        Path endpoints = Files.createDirectories(root().resolve("entries/channels/shop/cart/@"));
        Files.writeString(endpoints.resolve("a+"), "0123456789abcdef\n{\"id\":\"a\",\"host\":\"gone\"}");
        Files.setPosixFilePermissions(root(), PosixFilePermissions.fromString("rwx------"));

        try (Directory directory = Directory.open(address())) {
            assertThat(directory.endpoints(CART)).isEmpty();
            assertThat(directory.announce(CART, Endpoint.of("a", "here", 1)).isStanding())
                    .isTrue();
        }
    }

    @Test
    void shouldTakeOptionsFromTheAddressAndSayWhichItHas() {
        try (Directory directory = Directory.open(URI.create(address() + "?lease=30s&timeout=900ms"))) {
            directory.announce(ChannelName.of("/shop/cart"), Endpoint.of("a", "host-a", 1));
            assertThat(directory.isLeaseHeld()).isTrue();
        }
        for (String wrong : List.of("?ttl=3s", "?lease=", "?lease=3", "?lease=3s&", "?lease=500ms", "?timeout=0s")) {
            assertThatThrownBy(() -> Directory.open(URI.create(address() + wrong)))
                    .as(wrong)
                    .isInstanceOfSatisfying(
                            DirectoryException.class,
                            e -> assertThat(e.reason()).isEqualTo(DirectoryException.Reason.INVALID));
        }
        assertThatThrownBy(() -> Directory.open(URI.create(address() + "?ttl=3s")))
                .hasMessageContaining("'ttl=3s'")
                .hasMessageContaining("?lease=30s&timeout=500ms");
        assertThatThrownBy(() -> Directory.open(URI.create(address() + "?lease=3s"), DirectoryOptions.DEFAULT))
                .hasMessageContaining("name them in one place");
    }
}
