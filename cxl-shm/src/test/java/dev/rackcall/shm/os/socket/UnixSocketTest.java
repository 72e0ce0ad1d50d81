package dev.rackcall.shm.os.socket;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnixSocketTest {
    private static final Duration SOON = Duration.ofSeconds(50);

    @TempDir
    private Path directory;

    @Test
    void shouldConnectAndNameThePeer() throws IOException {
        Path path = directory.resolve("s");
        try (UnixSocket listener = UnixSocket.listen(path, 4)) {
            assertThat(listener.accept()).isEmpty();
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                    .isEqualTo("rw-------");
            try (UnixSocket client = UnixSocket.connect(path);
                    UnixSocket server = listener.accept().orElseThrow()) {
                assertThat(server.peer().pid())
                        .isEqualTo((int) ProcessHandle.current().pid());
                assertThat(server.peer().uid()).isEqualTo(Uid.current());
                client.send("hello".getBytes(StandardCharsets.UTF_8));
                assertThat(text(server)).isEqualTo("hello");
            }
        }
        assertThat(path).doesNotExist();
    }

    /** Otherwise another virtual thread could hold a lock for ever that the peers in this process need. */
    @Test
    void shouldLeaveTheProcessorsToOtherVirtualThreadsWhileVirtualThreadsWait() throws InterruptedException {
        List<UnixSocket.Pair> pairs = Stream.generate(UnixSocket::pair)
                .limit(2L * Runtime.getRuntime().availableProcessors())
                .toList();
        CountDownLatch waiting = new CountDownLatch(pairs.size());
        CountDownLatch received = new CountDownLatch(pairs.size());
        for (UnixSocket.Pair pair : pairs) {
            Thread _ = Thread.ofVirtual().start(() -> {
                waiting.countDown();
                assertThat(pair.left()
                                .receive(Duration.ofMinutes(1))
                                .orElseThrow()
                                .bytes())
                        .containsExactly(7);
                received.countDown();
            });
        }

        assertThat(waiting.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(Thread.ofVirtual().start(() -> {}).join(SOON)).isTrue();

        for (UnixSocket.Pair pair : pairs) {
            pair.right().send(new byte[] {7});
        }
        assertThat(received.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
        pairs.forEach(pair -> {
            pair.left().close();
            pair.right().close();
        });
    }

    @Test
    void shouldListenAtAVeryLongPath() throws IOException {
        Path deep = Files.createDirectories(directory.resolve("d".repeat(100)).resolve("e".repeat(100)));
        Path path = deep.resolve("socket");
        try (UnixSocket listener = UnixSocket.listen(path, 4);
                UnixSocket client = UnixSocket.connect(path);
                UnixSocket server = listener.accept().orElseThrow()) {
            server.send(new byte[] {1});
            assertThat(client.receive(SOON).orElseThrow().bytes()).containsExactly(1);
        }
        assertThrown(
                IllegalArgumentException.class, () -> UnixSocket.listen(deep.resolve("n".repeat(120)), 1), "too long");
    }

    @Test
    void shouldSayWhyItCannotConnectOrListen() throws IOException {
        Path path = directory.resolve("s");
        assertThrown(OsException.class, () -> UnixSocket.connect(path), "ENOENT", "is the server running?");
        Files.createFile(path);
        assertThatThrownBy(() -> UnixSocket.listen(path, 1)).hasMessageContaining("EADDRINUSE");
    }

    @Test
    void shouldGiveUpOnAFullBacklogInBoundedTime() {
        Path path = directory.resolve("s");
        try (UnixSocket listener = UnixSocket.listen(path, 0);
                UnixSocket first = UnixSocket.connect(path)) {
            assertThat(first.isOpen()).isTrue();
            assertThatThrownBy(() -> UnixSocket.connect(path, Duration.ofMillis(20)))
                    .hasMessageContainingAll("EAGAIN", "does not accept");
            assertThat(listener.accept()).isPresent().hasValueSatisfying(UnixSocket::close);
        }
    }

    @Test
    void shouldPassDescriptors() {
        UnixSocket.Pair pair = UnixSocket.pair();
        try (UnixSocket left = pair.left();
                UnixSocket right = pair.right();
                SharedFile one = SharedFile.memfd("one", 4096);
                SharedFile two = SharedFile.memfd("two", 8192);
                Mapping mine = one.map()) {
            one.reserve(0, 4096);
            mine.memory().set(JAVA_INT, 0, 77);
            left.send(new byte[] {5, 6}, one.fd(), two.fd());

            Message message = right.receive(SOON).orElseThrow();
            assertThat(message.bytes()).containsExactly(5, 6);
            assertThat(message.fds()).hasSize(2);
            try (SharedFile first = SharedFile.adopt(message.fds()[0]);
                    SharedFile second = SharedFile.adopt(message.fds()[1]);
                    Mapping theirs = first.map()) {
                assertThat(theirs.memory().get(JAVA_INT, 0)).isEqualTo(77);
                assertThat(second.bytes()).isEqualTo(8192);
            }
        }
    }

    @Test
    void shouldRefuseAMessageWithTooManyDescriptorsAndLeakNone() throws IOException {
        UnixSocket.Pair pair = UnixSocket.pair();
        try (UnixSocket left = pair.left();
                UnixSocket right = pair.right();
                SharedFile file = SharedFile.memfd("too-many", 4096)) {
            int[] many = new int[MessageHeader.MAX_FDS];
            java.util.Arrays.fill(many, file.fd());
            left.send(new byte[] {1}, many);
            Message full = right.receive(SOON).orElseThrow();
            assertThat(full.fds()).hasSize(MessageHeader.MAX_FDS);
            full.closeFds();

            long before = openDescriptors("too-many");
            int[] tooMany = new int[MessageHeader.MAX_FDS + 9];
            java.util.Arrays.fill(tooMany, file.fd());
            assertThatThrownBy(() -> left.send(new byte[] {1}, tooMany)).isInstanceOf(IllegalArgumentException.class);
            HostilePeer.sendDescriptors(left, tooMany);
            assertThrown(OsException.class, () -> right.receive(SOON), "EMSGSIZE");
            assertThat(openDescriptors("too-many")).isEqualTo(before);
        }
    }

    /** A read that looked for a second ring would have taken it. */
    @Test
    void shouldStopAfterARingAndLeaveTheRestToThePoll() {
        UnixSocket.Pair pair = UnixSocket.pair();
        try (UnixSocket left = pair.left();
                UnixSocket right = pair.right();
                EventPoll poll = EventPoll.create()) {
            right.watch(poll, 1);
            List<Long> numbers = new ArrayList<>();
            assertThat(right.drainToRing(numbers::add)).isZero();
            for (long number = 1; number <= 3; number++) {
                assertThat(left.ring(number)).isTrue();
            }
            left.ring();
            left.ring();
            assertThat(left.ring(4)).isTrue();
            assertThat(right.drainToRing(numbers::add)).isEqualTo(4);
            assertThat(numbers).containsExactly(1L, 2L, 3L);
            assertThat(poll.await(0)).isEqualTo(1);
            assertThat(right.drainToRing(numbers::add)).isEqualTo(1);
            assertThat(poll.await(0)).isEqualTo(1);
            left.ring();
            left.close();
            assertThat(right.drainToRing(numbers::add)).isEqualTo(2);
            assertThat(numbers).containsExactly(1L, 2L, 3L, 4L);
            assertThat(poll.await(0)).as("the peer's end").isEqualTo(1);
            assertThat(right.drainToRing(numbers::add)).isEqualTo(-1);
        }
    }

    @Test
    void shouldRingAndDrainWithoutBlocking() {
        UnixSocket.Pair pair = UnixSocket.pair();
        try (UnixSocket left = pair.left();
                UnixSocket right = pair.right()) {
            assertThat(right.drain()).isZero();
            assertThat(left.ring()).isTrue();
            assertThat(left.ring()).isTrue();
            assertThat(right.drain()).isEqualTo(2);
            for (int i = 0; i < 5_000; i++) {
                assertThat(left.ring()).isTrue();
            }
            assertThat(right.drain()).isPositive();
            while (right.drain() > 0) {}
            left.ring();
            left.close();
            assertThat(right.drain()).isEqualTo(1);
            assertThat(right.drain()).isEqualTo(-1);
            assertThat(right.ring()).isFalse();
            assertThat(left.ring()).isFalse();
            assertThat(left.drain()).isEqualTo(-1);
            assertThat(right.receive(SOON))
                    .hasValueSatisfying(end -> assertThat(end.isEnd()).isTrue());
        }
    }

    @Test
    void shouldBoundTheWaitForAMessage() {
        UnixSocket.Pair pair = UnixSocket.pair();
        try (UnixSocket left = pair.left();
                UnixSocket right = pair.right()) {
            assertThat(left.receive(Duration.ofMillis(10))).isEqualTo(Optional.empty());
            assertThat(right.receive(Duration.ZERO)).isEmpty();
        }
    }

    @Test
    void shouldWakeAReceiverWhenItsOwnEndIsClosed() throws InterruptedException, TimeoutException {
        UnixSocket.Pair pair = UnixSocket.pair();
        try (UnixSocket right = pair.right()) {
            assertThat(right.isOpen()).isTrue();
            CompletableFuture<Optional<Message>> waiting =
                    CompletableFuture.supplyAsync(() -> pair.left().receive(Duration.ofSeconds(30)));
            pair.left().close();
            assertThatThrownBy(() -> waiting.get(100, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(IllegalStateException.class);
        }
    }

    private static String text(UnixSocket socket) {
        return new String(socket.receive(SOON).orElseThrow().bytes(), StandardCharsets.UTF_8);
    }

    /** Counts descriptors of a memory file of that name, since others of this process come and go. */
    private static long openDescriptors(String name) throws IOException {
        try (var list = Files.list(Path.of("/proc/self/fd"))) {
            return list.filter(descriptor -> target(descriptor).contains("memfd:" + name))
                    .count();
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return "closed meanwhile";
        }
    }
}
