package dev.rackcall.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.testkit.ChildJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills processes that allocate in one arena at random instants. Their pages must come back, and no other pages may
 * change.
 */
@Timeout(600)
class ArenaKillTest {
    /** More by {@code -Drackcall.kills=N}. */
    private static final int KILLS = Integer.getInteger("rackcall.kills", 4);

    private static final int ME = 1;
    private static final int FIRST_CHILD = 2;
    private static final int CHILDREN = 3;
    private static final int KILLS_A_ROUND = 2;
    private static final Duration BOUND = Duration.ofSeconds(100);

    @TempDir
    private Path directory;

    private final SharedFile file = SharedFile.memfd("kill-test", KilledAllocator.MAIL_BYTES + KilledAllocator.QUOTA);
    private final Mapping mapping = file.map();
    private final List<Child> children = new ArrayList<>();

    private record Child(int participant, ChildJvm process, UnixSocket socket) {}

    @Test
    void shouldGetBackEveryPageOfProcessesThatWereKilled() throws InterruptedException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        file.reserve(0, KilledAllocator.MAIL_BYTES);
        Arena mine = Arena.create(KilledAllocator.spec(file, mapping, ME));
        Arena helper = KilledAllocator.attach(file, mapping, KilledAllocator.MAX_PARTICIPANT);
        KilledAllocator own = new KilledAllocator(mapping.memory(), mine, seed);
        try (UnixSocket listener = UnixSocket.listen(directory.resolve("s"), CHILDREN)) {
            start(listener, List.of(FIRST_CHILD, FIRST_CHILD + 1, FIRST_CHILD + 2), random);
            for (int kills = 0; kills < KILLS; kills += KILLS_A_ROUND) {
                List<Integer> numbers = new ArrayList<>();
                for (int i = 0; i < KILLS_A_ROUND; i++) {
                    for (int step = random.nextInt(2_000); step > 0; step--) {
                        own.step();
                    }
                    Child victim = children.remove(random.nextInt(children.size()));
                    kill(victim);
                    numbers.add(victim.participant());
                    reclaim(victim.participant(), mine, helper);
                }
                start(listener, numbers, random);
            }
            for (Child child : List.copyOf(children)) {
                children.remove(child);
                kill(child);
                reclaim(child.participant(), mine, helper);
            }
            own.clear();
            assertThat(mine.usedBytes()).as("seed %d", seed).isZero();
            long everything = mine.quota() - ArenaLayout.firstPage(TableHome.SHARED, mine.quota());
            assertThat(mine.freeRun(mine.allocateRun(everything))).isTrue();
        } finally {
            children.forEach(child -> child.process().close());
            mapping.close();
            file.close();
        }
    }

    private void start(UnixSocket listener, List<Integer> participants, Random random) throws InterruptedException {
        List<ChildJvm> processes = new ArrayList<>();
        for (int participant : participants) {
            processes.add(launch(participant, random.nextLong()));
        }
        for (int i = 0; i < participants.size(); i++) {
            UnixSocket socket = accept(listener);
            int participant = socket.receive(BOUND).orElseThrow().bytes()[0];
            socket.send(new byte[] {1}, file.fd());
            ChildJvm process = processes.get(participants.indexOf(participant));
            children.add(new Child(participant, process, socket));
        }
        for (Child child : children) {
            if (participants.contains(child.participant())) {
                // It rings when it allocates.
                assertThat(child.socket().receive(BOUND))
                        .as(() -> "participant " + child.participant() + ": "
                                + child.process().output())
                        .hasValueSatisfying(ring -> assertThat(ring.isEnd()).isFalse());
            }
        }
    }

    private static UnixSocket accept(UnixSocket listener) throws InterruptedException {
        long deadline = System.nanoTime() + BOUND.toNanos();
        Optional<UnixSocket> socket = listener.accept();
        while (socket.isEmpty()) {
            assertThat(System.nanoTime()).as("time for a child to connect").isLessThan(deadline);
            TimeUnit.MILLISECONDS.sleep(1);
            socket = listener.accept();
        }
        return socket.get();
    }

    private ChildJvm launch(int participant, long seed) {
        return ChildJvm.of(KilledAllocator.class, directory.resolve("s"), participant, seed)
                .flags("-Xmx64m")
                .mergingErrors()
                .start();
    }

    /** The end of its socket is the proof of its death. */
    private static void kill(Child child) throws InterruptedException {
        assertThat(child.process().isAlive())
                .as(() -> "participant " + child.participant() + " ended by itself: "
                        + child.process().output())
                .isTrue();
        child.process().kill();
        assertThat(child.socket().receive(BOUND))
                .hasValueSatisfying(end -> assertThat(end.isEnd()).isTrue());
        child.socket().close();
    }

    /** Two participants reclaim at once. */
    private static void reclaim(int participant, Arena one, Arena other) throws InterruptedException {
        Thread second = Thread.ofPlatform().start(() -> other.reclaim(participant));
        one.reclaim(participant);
        second.join();
        assertThat(one.reclaim(participant)).isZero();
    }
}
