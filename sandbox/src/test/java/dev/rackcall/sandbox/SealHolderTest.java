package dev.rackcall.sandbox;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Seals that the sealed process cannot lift. The sealed process is a child, because it locks itself down; holder
 * and receiver run here. */
class SealHolderTest {
    private static final Duration BOUND = Duration.ofSeconds(100);
    private static final long PAGE = 4096;

    @TempDir
    private Path folder;

    private SealHolder holder;

    @BeforeEach
    void start() {
        Skip.unless(Userfault::open).close();
        holder = SealHolder.start(folder.resolve("holder"));
    }

    @AfterEach
    void stop() {
        holder.close();
    }

    @Test
    void shouldKeepASealThatTheSealedProcessTriesToLift() throws Exception {
        try (UnixSocket listener = UnixSocket.listen(folder.resolve("s"), 1);
                SealHolder another = SealHolder.start(folder.resolve("other"))) {
            assertThat(another).isNotNull();
            String said;
            try (ChildJvm process = Probe.of(folder, EnforcedProbe.class, folder)
                            .mergingErrors()
                            .start();
                    UnixSocket child = accept(listener, process)) {
                receive(child, process);
                process.awaitEnd();
                said = process.output();
            }
            assertThat(said).contains("all went well").contains("not marked it done", "cannot be revoked");
            for (String line :
                    said.lines().filter(line -> line.matches("[^(]*: -?\\d+")).toList()) {
                assertThat(line).as("every attack fails").matches(".*: -\\d+");
            }
            assertThat(said.lines().filter(line -> line.matches("[^(]*: -\\d+")))
                    .hasSize(20);
        }
    }

    private static UnixSocket accept(UnixSocket listener, ChildJvm process) throws Exception {
        long deadline = System.nanoTime() + BOUND.toNanos();
        Optional<UnixSocket> socket = listener.accept();
        while (socket.isEmpty()) {
            assertThat(System.nanoTime() < deadline && process.isAlive())
                    .as("the child connects: %s", process.output())
                    .isTrue();
            TimeUnit.MILLISECONDS.sleep(1);
            socket = listener.accept();
        }
        return socket.get();
    }

    private void receive(UnixSocket child, ChildJvm process) throws Exception {
        Message hello = child.receive(BOUND).orElseThrow();
        if (hello.isEnd()) {
            process.awaitEnd();
            String said = process.output();
            if (said.contains("UnsupportedFeatureException")) {
                throw Skip.because(said.lines().limit(2).toList().toString());
            }
            throw new AssertionError(said);
        }
        try (SharedFile file = hello.adopt(0);
                Mapping mapping = file.mapReadOnly()) {
            assertThatThrownBy(file::map).hasMessageContaining("EPERM");
            Arena arena = Arena.attach(
                    new ArenaSpec(EnforcedProbe.ARENA, mapping.memory(), file, 0, TableHome.PRIVATE, 1, 0));
            assertThatThrownBy(() -> SealSession.join(folder.resolve("holder"), new byte[16], arena, file, 0))
                    .isInstanceOf(SealException.class)
                    .hasMessageContaining("no session of that number");
            assertThatThrownBy(() -> SealSession.join(folder.resolve("holder"), hello.bytes(), arena, file, PAGE))
                    .isInstanceOf(SealException.class)
                    .hasMessageContaining("another arena");
            // The holder's threads, here in the same process, may close them after they have refused.
            Await.equal("marks of refused receivers", 0L, () -> EnforcedProbe.descriptors("rackcall-seal-marks"));
            try (SealSession.Receiver receiver =
                    SealSession.join(folder.resolve("holder"), hello.bytes(), arena, file, 0)) {
                judge(child, receiver.scopes(), mapping, process);
                judgeTheLast(child, receiver, mapping, process);
            }
        }
    }

    private static void judge(UnixSocket child, SealedScopes scopes, Mapping mapping, ChildJvm process)
            throws IOException {
        for (int call = 0; call < 121; call++) {
            Message sent = child.receive(BOUND).orElseThrow();
            assertThat(sent.isEnd()).as(() -> process.output()).isFalse();
            ByteBuffer fields = ByteBuffer.wrap(sent.bytes());
            long seal = fields.getLong();
            long ref = fields.getLong();
            scopes.claim(seal);
            scopes.verify(seal, ref, 64);
            if (call == 0) {
                child.send(new byte[] {1});
                assertThat(child.receive(BOUND).orElseThrow().isEnd())
                        .as(() -> process.output())
                        .isFalse();
            }
            assertThat(mapping.memory().get(JAVA_LONG, Ref.offset(ref))).isEqualTo(EnforcedProbe.SECRET);
            assertThat(scopes.markDone(seal)).isTrue();
            child.send(new byte[] {1});
        }
    }

    /** Judges the last call, during which the sealed process hangs up. */
    private static void judgeTheLast(
            UnixSocket child, SealSession.Receiver receiver, Mapping mapping, ChildJvm process) {
        ByteBuffer fields = ByteBuffer.wrap(child.receive(BOUND).orElseThrow().bytes());
        receiver.scopes().claim(fields.getLong());
        child.send(new byte[] {1});
        assertThat(child.receive(BOUND).orElseThrow().isEnd())
                .as(() -> process.output())
                .isFalse();
        assertThat(receiver.isHeld()).isTrue();
        assertThat(mapping.memory().get(JAVA_LONG, Ref.offset(fields.getLong())))
                .isEqualTo(EnforcedProbe.SECRET);
    }

    @Test
    void shouldCloseWhatAReceiverSends() {
        UnixSocket.Pair pair = UnixSocket.pair();
        try (UnixSocket here = pair.left();
                SharedFile file = SharedFile.memfd("sent-by-a-receiver", PAGE)) {
            for (int i = 0; i < 3; i++) {
                pair.right().send(new byte[] {1}, file.fd(), file.fd());
            }
            pair.right().close();
            SealHolder.awaitEnd(here, () -> false);
            assertThat(EnforcedProbe.descriptors("sent-by-a-receiver")).isEqualTo(1);
        }
    }

    /** A known gap without lockdown: a child has the mapping without the seal. SECURITY.md names it. */
    @Test
    void shouldBeWrittenByAForkedChildIfTheMappingIsInherited() {
        try (Userfault userfault = Userfault.open();
                SharedFile file = SharedFile.memfd("fork-test", PAGE);
                Mapping mapping = file.map()) {
            file.reserve(0, PAGE);
            userfault.register(mapping.memory().address(), PAGE);
            mapping.memory().set(JAVA_LONG, 0, 5);
            userfault.protect(mapping.memory().address(), PAGE);

            assertThat(Forked.readsInto(mapping.memory().address(), "/proc/self/maps"))
                    .isZero();
            assertThat(mapping.memory().get(JAVA_LONG, 0)).isNotEqualTo(5);
        }
    }

    @Test
    void shouldRefuseWhoDoesNotSpeakItsLanguage() {
        for (byte[] message : List.of(new byte[] {7}, new byte[] {'S'}, new byte[] {'C', 1}, new byte[29])) {
            try (UnixSocket socket = UnixSocket.connect(folder.resolve("holder"))) {
                socket.send(message);
                Message answer = socket.receive(BOUND).orElseThrow();
                assertThat(answer.bytes()[0]).isEqualTo(HolderMessage.REFUSED);
            }
        }
    }

    @Test
    void shouldNotTakeAnotherDescriptorForAUserfaultfd() {
        try (UnixSocket socket = UnixSocket.connect(folder.resolve("holder"));
                SharedFile file = SharedFile.memfdForSomeWriters("holder-test", 1 << 20)) {
            file.shutOutWriters();
            socket.send(
                    HolderMessage.sealer(new SealedArea(1, 1 << 20, 1 << 20, PAGE)), file.fd(), file.fd(), file.fd());
            assertThat(new String(socket.receive(BOUND).orElseThrow().bytes(), StandardCharsets.UTF_8))
                    .contains("the descriptor that was sent is not a userfaultfd but /memfd:holder-test");
        }
    }

    @Test
    void shouldSayThatThereIsNoHolder() {
        try (SharedFile file = SharedFile.memfdForSomeWriters("holder-test", 1 << 20);
                Mapping mapping = file.map()) {
            Arena arena = Arena.create(new ArenaSpec(3, mapping.memory(), file, 0, TableHome.PRIVATE, 1, 64 << 10));
            assertThatThrownBy(
                            () -> SealSession.open(folder.resolve("nobody"), arena, file, SealSession.Invitation.NONE))
                    .isInstanceOf(SealException.class)
                    .hasMessageContaining("there is no holder of seals at");
        }
    }
}
