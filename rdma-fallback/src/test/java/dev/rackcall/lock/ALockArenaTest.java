package dev.rackcall.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rdma.OneReception;
import dev.rackcall.rdma.OneSeat;
import dev.rackcall.rdma.RdmaCarriers;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.types.SharedBytes;
import dev.rackcall.testkit.Await;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A lock table among the objects of an arena, which two participants map and a carrier mirrors, as in a connection. */
@SuppressWarnings("LockNotBeforeTry")
class ALockArenaTest {
    private static final long BYTES = 1 << 20;
    private static final int DESCRIPTORS = 8;
    private static final int LOCKS = 2;
    private static final int ROUNDS = 300;
    private static final long ME = 1;
    private static final long PATIENCE_NANOS = Await.BOUND.toNanos();
    private static final long KEEPER = 1000;

    private final Pool pool = Pool.memfd("locks", BYTES);
    private final MemorySegment here = pool.arena().memory();
    /** A file that no process writes; this process's device uses the mappings. */
    private final SharedFile nobodys = SharedFile.memfd("nobody's", 4096);

    private final MemorySegment mirror = Arena.ofAuto().allocate(here.byteSize(), 4096);
    private final Scope scope = pool.arena().newScope();
    /** Where the table lies, and the data that its lock guards, from the arena's beginning. */
    private final long at;

    private final long counter;
    private final CompletableFuture<Carrier> seated = new CompletableFuture<>();
    private final CarrierProvider.Listener listener;
    private final Carrier carrier;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private long pushes;

    ALockArenaTest() {
        long bytes = LockTable.bytes(DESCRIPTORS, LOCKS);
        MemorySegment object =
                SharedBytes.copyOf(scope, new byte[(int) bytes + 2 * 64]).segment();
        at = (object.address() - here.address() + 63) / 64 * 64;
        counter = at + bytes;
        RdmaCarriers provider = new RdmaCarriers();
        listener = provider.listen(
                URI.create("rdma://127.0.0.1:0"),
                new OneReception(hello -> new CarrierProvider.Answer(
                        ByteBuffer.allocate(0),
                        Optional.of(new OneSeat(new CarrierProvider.Memory(nobodys, mirror), seated)))));
        carrier = provider.connect(
                        listener.address(),
                        new CarrierProvider.Memory(nobodys, here),
                        ByteBuffer.allocate(1),
                        8,
                        Await.BOUND)
                .carrier()
                .orElseThrow();
        carrier.start(new Silent());
        seated.join().start(new Silent());
    }

    @AfterEach
    void close() {
        threads.close();
        carrier.close();
        seated.join().close();
        listener.close();
        nobodys.close();
        scope.close();
        pool.close();
    }

    /** The test looks at the memory. */
    private static final class Silent implements Carrier.Arrivals {
        @Override
        public void published() {}

        @Override
        public void told(long number) {}

        @Override
        public void ended() {}
    }

    private MemorySegment tableIn(MemorySegment memory) {
        return memory.asSlice(at, counter - at);
    }

    /**
     * The part that is final. A closed session's last writes, which release its descriptors, may still be in flight.
     */
    private MemorySegment locksIn(MemorySegment memory) {
        long bytes = (long) LOCKS * LockLayout.LINE;
        return memory.asSlice(counter - bytes, bytes);
    }

    private static long word(MemorySegment memory, long offset) {
        return (long) ValueLayout.JAVA_LONG.varHandle().getAcquire(memory, offset);
    }

    /** Counts with the lock, by stores that would be lost without it. */
    private Callable<Integer> counting(LockSession session, MemorySegment memory) {
        return () -> {
            try (session) {
                ALock lock = session.lock(1);
                for (int round = 0; round < ROUNDS; round++) {
                    lock.lock();
                    memory.set(ValueLayout.JAVA_LONG, counter, memory.get(ValueLayout.JAVA_LONG, counter) + 1);
                    lock.unlock();
                }
                return ROUNDS;
            }
        };
    }

    /** Brings the mirror up to date, and waits until it is. */
    private void push() {
        long flag = counter + Long.BYTES;
        long turn = ++pushes;
        assertThat(carrier.carry(at / 4096 * 4096, BYTES / 4)).isTrue();
        assertThat(carrier.publish(flag, turn)).isTrue();
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (word(mirror, flag) != turn && System.nanoTime() - end < 0) {
            seated.join().look();
            Thread.onSpinWait();
        }
        assertThat(word(mirror, flag)).isEqualTo(turn);
    }

    @Test
    void shouldLockInAnArenaWhileItIsMirrored() throws Exception {
        LockTable made = LockTable.create(tableIn(here), DESCRIPTORS, LOCKS);
        try (Pool other = Pool.join(pool.file());
                LockHome home = new LockHome(tableIn(here));
                LockKeeper keeper = made.keeper(home.newLoopback(), KEEPER, owner -> false)) {
            MemorySegment there = other.arena().memory();
            assertThat(there.address()).isNotEqualTo(here.address());
            List<Future<Integer>> counts = List.of(
                    threads.submit(counting(made.localSession(ME), here)),
                    threads.submit(counting(LockTable.attach(tableIn(there)).localSession(ME), there)),
                    threads.submit(counting(LockTable.remoteSession(home.newLink(), ME), here)));
            long end = System.nanoTime() + PATIENCE_NANOS;
            while (!counts.stream().allMatch(Future::isDone) && System.nanoTime() - end < 0) {
                push();
                // Helps a thread that the machine has stopped for a second just as it entered a queue.
                keeper.recover(owner -> false);
            }
            for (Future<Integer> count : counts) {
                assertThat(count.get(1, TimeUnit.SECONDS)).isEqualTo(ROUNDS);
            }
            assertThat(here.get(ValueLayout.JAVA_LONG, counter)).isEqualTo(counts.size() * (long) ROUNDS);
            push();
            assertThat(locksIn(mirror).mismatch(locksIn(here)))
                    .as("the mirror shows the locks as they are at home")
                    .isEqualTo(-1);
            assertThat(mirror.get(ValueLayout.JAVA_LONG, counter)).isEqualTo(here.get(ValueLayout.JAVA_LONG, counter));
        }
    }
}
