package dev.rackcall.lock;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Holders and waiters that die: threads whose death is asserted, and processes that are killed. {@code
 * -Drackcall.lock.kills} sets the least number of kills, {@code -Drackcall.lock.seconds} the time.
 */
@SuppressWarnings("LockNotBeforeTry")
@Timeout(600)
class LockKeeperTest {
    private static final int KILLS = Integer.getInteger("rackcall.lock.kills", 2);
    private static final long SECONDS = Long.getLong("rackcall.lock.seconds", 0);
    private static final long KEEPER = 1000;

    @TempDir
    private Path directory;

    @Test
    void shouldGiveTheLockOfADeadHolderToTheNext() throws InterruptedException {
        MemorySegment memory = Arena.ofAuto().allocate(LockTable.bytes(4, 2), 64);
        LockTable table = LockTable.create(memory, 4, 2);
        try (LockHome home = new LockHome(memory);
                LockKeeper keeper = table.keeper(home.newLoopback(), KEEPER, owner -> false)) {
            long[] owner = {0};
            long token = 0;
            for (boolean remote : new boolean[] {false, true, false}) {
                owner[0]++;
                RemoteTable link = home.newLink();
                LockHome.Accepted end = home.last();
                ALock held = (remote ? LockTable.remoteSession(link, owner[0]) : table.localSession(owner[0])).lock(1);
                assertThat(held.tryLock(30, TimeUnit.SECONDS)).isTrue();
                assertThat(held.token()).isGreaterThan(token);
                token = held.token();
                ALock next = table.localSession(KEEPER).lock(1);
                assertThat(keeper.recover(other -> false)).isZero();
                assertThat(next.tryLock()).as("no owner is dead").isFalse();
                end.cut();
                assertThat(keeper.recover(other -> other == owner[0])).isZero();
                assertThat(next.tryLock()).as("the holder is dead").isTrue();
                assertThat(next.token()).isGreaterThan(token);
                next.unlock();
            }
            assertThrown(
                    IllegalStateException.class,
                    () -> table.keeper(home.newLoopback(), 7, other -> false),
                    "has a keeper");
            table.keeper(home.newLoopback(), 7, other -> other == KEEPER).close();
        }
    }

    @Test
    void shouldNeedNoDeviceWithoutThreadsByRdma() throws InterruptedException {
        MemorySegment memory = Arena.ofAuto().allocate(LockTable.bytes(4, 2), 64);
        LockTable table = LockTable.create(memory, 4, 2);
        try (LockKeeper keeper = table.localKeeper(KEEPER, owner -> false);
                LockSession living = table.localSession(2)) {
            assertThat(table.localSession(1).lock(1).tryLock()).isTrue();
            ALock next = living.lock(1);
            assertThat(next.tryLock()).as("no owner is dead").isFalse();
            assertThat(keeper.recover(owner -> owner == 1)).isZero();
            assertThat(next.tryLock()).as("the holder is dead").isTrue();
            next.unlock();
            try (LockHome home = new LockHome(memory);
                    LockSession far = LockTable.remoteSession(home.newLink(), 3)) {
                ALock other = far.lock(0);
                assertThat(other.tryLock(30, TimeUnit.SECONDS)).isTrue();
                assertThrown(
                        IllegalStateException.class,
                        () -> keeper.recover(owner -> false),
                        "owner 3",
                        "LockTable.keeper(loopback");
                other.unlock();
            }
            assertThat(keeper.recover(owner -> false)).isZero();
        }
    }

    @Test
    void shouldKeepAListWholeThoughProcessesAreKilled() throws Exception {
        Path file = directory.resolve("locks");
        try (FileChannel channel = FileChannel.open(
                        file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
                Arena arena = Arena.ofShared()) {
            MemorySegment memory =
                    channel.map(FileChannel.MapMode.READ_WRITE, 0, LockChild.COUNT_AT + LockChild.LIST_BYTES, arena);
            LockTable table = LockTable.create(memory, LockChild.DESCRIPTORS, 1);
            try (LockHome home = new LockHome(memory);
                    LockKeeper keeper = table.keeper(home.newLoopback(), KEEPER, owner -> false);
                    LockOwners owners = LockOwners.of(file);
                    Children children = new Children(file, home, owners);
                    ScheduledExecutorService recovering = Executors.newSingleThreadScheduledExecutor()) {
                Future<?> sweeps = recovering.scheduleWithFixedDelay(
                        () -> keeper.recover(owners::isDead), 1, 1, TimeUnit.MILLISECONDS);
                long seed = Long.getLong("rackcall.seed", System.nanoTime());
                Random random = new Random(seed);
                for (String kind : List.of("local", "local", "remote", "finished")) {
                    children.start(kind);
                }
                long start = System.nanoTime();
                for (int i = 0; i < KILLS || System.nanoTime() - start < TimeUnit.SECONDS.toNanos(SECONDS); i++) {
                    long before = memory.get(ValueLayout.JAVA_LONG, LockChild.COUNT_AT);
                    children.awaitProgress(memory, before + random.nextInt(1000));
                    children.kill(random.nextInt(4));
                }
                long before = memory.get(ValueLayout.JAVA_LONG, LockChild.COUNT_AT);
                children.awaitProgress(memory, before + 100);
                Map<Long, Long> mine = children.end();
                mine.values().removeIf(entries -> entries == 0);
                assertThat(sweeps.isDone()).as("the keeper failed").isFalse();
                long count = memory.get(ValueLayout.JAVA_LONG, LockChild.COUNT_AT);
                Map<Long, Long> listed = new HashMap<>();
                for (long i = 0; i < count; i++) {
                    listed.merge(memory.get(ValueLayout.JAVA_LONG, LockChild.ENTRIES_AT + 8 * i), 1L, Long::sum);
                }
                assertThat(listed).as("entries of the living; seed %s", seed).containsAllEntriesOf(mine);
                assertThat(listed)
                        .as(
                                "the counter counts entries, of the living and of the dead, and nothing else; seed %s",
                                seed)
                        .doesNotContainKey(0L);
                assertThat(memory.get(ValueLayout.JAVA_LONG, LockChild.ENTRIES_AT + 8 * (count + 1)))
                        .as("nothing behind the end but the entry of one killed in between")
                        .isZero();
                assertThat(table.localSession(KEEPER).lock(0).tryLock(30, TimeUnit.SECONDS))
                        .isTrue();
            }
        }
    }

    /** Two local and two remote processes at a time. One of them does not wait for its unlocks. */
    private static final class Children implements AutoCloseable {
        private record Child(String kind, long owner, ChildJvm process, LockHome.Accepted end) {
            boolean remote() {
                return !kind.equals("local");
            }
        }

        private final Path file;
        private final LockHome home;
        private final LockOwners owners;
        private final List<Child> children = new ArrayList<>();

        Children(Path file, LockHome home, LockOwners owners) {
            this.file = file;
            this.home = home;
            this.owners = owners;
        }

        void start(String kind) throws IOException, InterruptedException {
            children.add(launch(kind));
        }

        private Child launch(String kind) throws IOException, InterruptedException {
            boolean remote = !kind.equals("local");
            // This process claims numbers for the processes that share no memory with it.
            long owner = remote ? owners.claim() : 0;
            ChildJvm process = ChildJvm.of(LockChild.class, file, kind, owner)
                    .flags("-Xmx64m")
                    .start();
            String greeting = process.awaitLine();
            LockHome.Accepted end = null;
            if (remote) {
                end = home.accept(greeting);
                process.send(end.describe());
            }
            return new Child(kind, remote ? owner : Long.parseLong(greeting), process, end);
        }

        /**
         * Kills a process and starts another one. The kernel releases its number; its pending requests are cut off
         * here.
         */
        void kill(int index) throws IOException, InterruptedException {
            Child child = children.get(index);
            child.process.kill();
            if (child.remote()) {
                child.end.cut();
                owners.release(child.owner);
            }
            children.set(index, launch(child.kind));
        }

        void awaitProgress(MemorySegment memory, long count) {
            LockWords words = new ProcessorWords(memory);
            Await.until("the list to have " + count + " entries", () -> words.load(LockChild.COUNT_AT) >= count);
        }

        /** Returns how many entries each live process has made. */
        Map<Long, Long> end() throws IOException, InterruptedException {
            Map<Long, Long> entries = new HashMap<>();
            for (Child child : children) {
                child.process.send("end");
            }
            for (Child child : children) {
                entries.put(child.owner, Long.parseLong(child.process.awaitLine()));
                assertThat(child.process.awaitEnd()).isZero();
            }
            return entries;
        }

        @Override
        public void close() {
            children.forEach(child -> child.process.close());
        }
    }
}
