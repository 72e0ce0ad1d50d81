package dev.rackcall.lock;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** Locks that are shared by readers, over the software device. */
@SuppressWarnings("LockNotBeforeTry")
class ALockReaderTest extends LockFixture {
    ALockReaderTest() {
        super(DESCRIPTORS, 2, true);
    }

    /** Both cohorts together have more than fit into one look of a remote thread. */
    private static final int DESCRIPTORS = 10;

    private static final int ROUNDS = 100;
    private static final long KEEPER = 1000;

    private final AtomicInteger counter = new AtomicInteger();

    private LockSession session(boolean remote, long owner) {
        return remote
                ? LockTable.remoteSession(home.newLink(), owner)
                : LockTable.attach(memory).localSession(owner);
    }

    @Test
    void shouldBeSharedByReadersAndHeldAloneByOthers() throws InterruptedException {
        List<ALockReader> readers = new ArrayList<>();
        for (boolean remote : new boolean[] {false, true, false, true}) {
            ALockReader reader = session(remote, 1).readLock(1);
            assertThat(reader.tryLock()).isTrue();
            readers.add(reader);
        }
        List<ALock> writers =
                List.of(session(false, 1).lock(1), session(true, 1).lock(1));
        for (ALockReader reader : readers) {
            for (ALock writer : writers) {
                assertThat(writer.tryLock()).isFalse();
                assertThat(writer.tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
            }
            reader.unlock();
        }
        for (ALock writer : writers) {
            // A reader by RDMA does not wait for its last write to arrive.
            assertThat(writer.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
            for (ALockReader reader : readers) {
                assertThat(reader.tryLock()).isFalse();
                assertThat(reader.tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
                assertThat(reader.isHeld()).isFalse();
            }
            writer.unlock();
        }
        assertThat(readers).allMatch(Lock::tryLock);
    }

    @Test
    void shouldKeepReadersAndWritersApart() throws Exception {
        List<Future<Integer>> results = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            boolean remote = i % 2 == 1;
            boolean writes = i >= 2;
            LockSession session = session(remote, 1);
            Callable<Integer> work = () -> {
                int changes = 0;
                Lock lock = writes ? session.lock(0) : session.readLock(0);
                for (int round = 0; round < ROUNDS; round++) {
                    lock.lock();
                    // Opaque: the compiler must not make one read of two.
                    int seen = counter.getOpaque();
                    Thread.yield();
                    if (writes) {
                        counter.setOpaque(seen + 1);
                    } else {
                        changes += counter.getOpaque() == seen ? 0 : 1;
                    }
                    lock.unlock();
                }
                session.close();
                return changes;
            };
            results.add(threads.submit(work));
        }
        assertThat(sum(results)).as("changes under a reader").isZero();
        assertThat(counter.get()).isEqualTo(2 * ROUNDS);
    }

    @Test
    void shouldTakeDeadReadersOut() {
        LockKeeper keeper = keeper(KEEPER);
        ALock writer = session(false, KEEPER).lock(0);
        for (boolean remote : new boolean[] {false, true}) {
            ALockReader reader = session(remote, 1).readLock(0);
            reader.lock();
            assertThat(keeper.recover(owner -> false)).isZero();
            assertThat(writer.tryLock()).as("the reader lives").isFalse();
            if (remote) {
                home.last().cut();
            }
            assertThat(keeper.recover(owner -> owner == 1)).isZero();
            assertThat(writer.tryLock()).as("the reader is dead").isTrue();
            writer.unlock();
        }
    }

    @Test
    void shouldTellAReaderThatWasTakenForDead() {
        LockKeeper keeper = keeper(KEEPER);
        ALock writer = session(false, KEEPER).lock(0);
        for (boolean fails : new boolean[] {false, true}) {
            RemoteTable link = home.newLink();
            ALockReader reader = LockTable.remoteSession(link, 1).readLock(0);
            assertThatThrownBy(reader::validate).isInstanceOf(IllegalMonitorStateException.class);
            reader.lock();
            assertThat(writer.tryLock()).isFalse();
            assertThat(reader.validate()).isTrue();
            if (fails) {
                link.queuePair().toError();
            }
            assertThat(keeper.recover(owner -> owner == 1)).isZero();
            assertThat(writer.tryLock()).as("the reader counts as dead").isTrue();
            if (fails) {
                assertThatThrownBy(reader::validate).isInstanceOf(LockConnectionException.class);
            } else {
                assertThat(reader.validate()).isFalse();
            }
            assertThatThrownBy(reader::unlock).hasMessageContaining("lost");
            writer.unlock();
        }
    }

    @Test
    void shouldCostARoundTripMoreWhereThereMayBeReaders() {
        RemoteTable link = CountingQueuePair.in(home.newLink());
        CountingQueuePair sent = CountingQueuePair.of(link);
        LockSession session = LockTable.remoteSession(link, 1);
        ALock lock = session.lock(0);
        ALockReader reader = session.readLock(0);
        for (Lock any : new Lock[] {lock, reader, lock, reader}) {
            any.lock();
            any.unlock();
        }
        sent.reset();
        reader.lock();
        // To enter the queue and to leave it.
        assertThat(sent.counts()).startsWith("2 trips");
        sent.reset();
        reader.unlock();
        // One of the writes frees the place in the queue.
        assertThat(sent.counts()).isEqualTo("0 trips: 2 W, 0 C, 0 R");
        lock.lock();
        lock.unlock();
        sent.reset();
        lock.lock();
        assertThat(sent.counts()).startsWith("2 trips");
        lock.unlock();
    }

    @Test
    void shouldRefuseWhatCannotBeMeant() {
        LockSession session = session(false, 1);
        ALockReader reader = session.readLock(0);
        assertThatThrownBy(reader::unlock).isInstanceOf(IllegalMonitorStateException.class);
        reader.lock();
        assertThatThrownBy(reader::lock).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(session.readLock(0)::tryLock).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(session.lock(0)::tryLock).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(session::close).hasMessageContaining("unlock it");
        assertThatThrownBy(reader::newCondition).isInstanceOf(UnsupportedOperationException.class);
        reader.unlock();
        ALock held = session.lock(0);
        held.lock();
        assertThatThrownBy(reader::lock).isInstanceOf(IllegalMonitorStateException.class);
        held.unlock();
        session.close();
        MemorySegment plain = Arena.ofAuto().allocate(LockTable.bytes(1, 1), 64);
        LockSession alone = LockTable.create(plain, 1, 1).localSession(1);
        assertThatThrownBy(() -> alone.readLock(0)).hasMessageContaining("createWithReaders");
        assertThatThrownBy(() -> session.readLock(2)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void shouldLeaveTheLockFreeIfThereIsNoDescriptorToReadWith() {
        MemorySegment small = Arena.ofAuto().allocate(LockTable.bytes(1, 1), 64);
        LockSession session = LockTable.createWithReaders(small, 1, 1).localSession(1);
        assertThrown(IllegalStateException.class, session.readLock(0)::lock, "descriptors");
        assertThat(session.lock(0).tryLock()).isTrue();
    }
}
