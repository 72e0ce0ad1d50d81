package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.MirroringBell;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.ScopeRuns;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;

/**
 * The bell of a connection whose ends have memory of their own. A thread that has published something pushes it: this
 * carries the published words to the peer. One thread pushes at a time: if another thread is already pushing, it also
 * sends this request, and rechecks before it stops.
 *
 * <p>Spinning pollers and callers process arrivals themselves. Before they sleep they listen, and are then woken
 * through a socket pair of this process.
 */
abstract class MirrorBell implements MirroringBell, Carrier.Arrivals {
    /** A scope of at least this size may be fetched page by page instead of pushed, where that is allowed. */
    static final long FETCHED_FROM = 4 << 20;

    /** Rounds in which a pushing thread also sends what others have published, before another thread takes over. */
    private static final int ROUNDS = 8;

    private static final LimitedLog LOG = LimitedLog.of(MirrorBell.class);

    /** Bound on waiting for the thread that is pushing, when the bell is closed. */
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Bound on a second closer's wait for the first closer, which pushes the rest and lets it arrive. */
    private static final long CLOSE_SECONDS = 5;
    /** Maximum number of pending numbers: more than an honest peer sends between two checks. */
    static final int MOST_NUMBERS = 1 << 16;

    final Carrier carrier;
    final Mapping mapping;
    private final UnixSocket inner;
    private final UnixSocket outer;
    private final Queue<Long> numbers = new ConcurrentLinkedQueue<>();
    /** The number of pending numbers, or briefly one more. */
    private final AtomicInteger numberCount = new AtomicInteger();

    private final AtomicInteger wanted = new AtomicInteger();
    private final ReentrantLock scopeLock = new ReentrantLock();
    private final ScopeRuns runs = new ScopeRuns();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile boolean over;
    /** A push has failed. */
    private volatile boolean broken;

    MirrorBell(Carrier carrier, Mapping mapping) {
        this.carrier = carrier;
        this.mapping = mapping;
        UnixSocket.Pair pair = UnixSocket.pair();
        this.inner = pair.left();
        this.outer = pair.right();
    }

    @Override
    public final Optional<Status> endCause() {
        return carrier.endCause();
    }

    final MemorySegment memory() {
        return mapping.memory();
    }

    /**
     * Carries over what was published since the last call and before this one, possibly more. One thread at a time.
     *
     * @return false if the peer is gone
     */
    abstract boolean carryPublished();

    @Override
    public final boolean ring() {
        return push();
    }

    @Override
    public final boolean push() {
        if (over || broken) {
            return false;
        }
        // The thread that raises `wanted` from 0 also pushes for all threads that raise it in the meantime: its next
        // round sees what they published.
        if (wanted.getAndIncrement() != 0) {
            return true;
        }
        return carry(ROUNDS);
    }

    /**
     * Pushes until no thread has made another request since the round began, or for {@code rounds}, after which another
     * thread continues.
     */
    private boolean carry(int rounds) {
        for (int i = 0; i < rounds; i++) {
            int seen = wanted.get();
            if (!carryHere()) {
                wanted.set(0);
                return false;
            }
            if (wanted.compareAndSet(seen, 0)) {
                return true;
            }
        }
        try {
            // Not virtual: virtual threads that spin for an answer may occupy all processors.
            Thread.ofPlatform().daemon().name("rackcall-carry").start(() -> carry(Integer.MAX_VALUE));
            return true;
        } catch (RuntimeException | Error e) {
            // Without a thread nothing would be pushed any more.
            breakOff(e);
            return false;
        }
    }

    private boolean carryHere() {
        try {
            return !over && !broken && carryPublished();
        } catch (RuntimeException | Error e) {
            // Otherwise the memory was unmapped in the meantime.
            if (!over) {
                breakOff(e);
            }
            return false;
        }
    }

    /** Later pushes would lack what this one could not carry, so the connection ends, with all its calls. */
    private void breakOff(Throwable cause) {
        broken = true;
        LOG.error("a connection ends because what was published cannot be carried over", cause);
        ended();
    }

    /**
     * Carries an object's scope, before the word that passes the object. Any thread.
     *
     * @param least size in bytes from which a scope is not carried
     * @return false if the scope was not carried
     */
    final boolean carryScope(Arena arena, long arenaOffset, long ref, long least) throws RefException {
        scopeLock.lock();
        try {
            runs.read(arena, arena.scopeOf(ref));
            // The arena may have grown since, and scopes in it may have been closed.
            carrier.carryChanged(arenaOffset, arena.headerBytes());
            if (runs.totalBytes() >= least) {
                return false;
            }
            for (int i = 0; i < runs.count(); i++) {
                // The following push notices a peer that is gone.
                carrier.carryChanged(arenaOffset + Ref.offset(runs.ref(i)), runs.bytes(i));
            }
            return true;
        } finally {
            runs.clear();
            scopeLock.unlock();
        }
    }

    @Override
    public final void look() {
        if (!over) {
            carrier.look();
        }
    }

    @Override
    public final boolean isMovedByProcess() {
        return carrier.isMovedByProcess();
    }

    @Override
    public final void listen() {
        if (!over) {
            carrier.listen();
        }
    }

    @Override
    public final boolean tell(long number) {
        return !over && carrier.tell(number);
    }

    @Override
    public final boolean watch(EventPoll poll, long tag) {
        return outer.watch(poll, tag);
    }

    @Override
    public final void unwatch(EventPoll poll) {
        outer.unwatch(poll);
    }

    @Override
    public final int drain(LongConsumer taker) {
        if (over) {
            return -1;
        }
        int rings = outer.drain();
        // Later numbers ring again, so a peer that never stops does not keep this thread.
        int most = numberCount.get();
        int told = 0;
        for (Long number = pollNumber(most); number != null; number = pollNumber(most - told)) {
            taker.accept(number);
            told++;
        }
        return rings < 0 && told > 0 ? told : rings;
    }

    private Long pollNumber(int most) {
        Long number = most > 0 ? numbers.poll() : null;
        if (number != null) {
            numberCount.decrementAndGet();
        }
        return number;
    }

    // ---- threads of the carrier

    @Override
    public final void published() {
        inner.ring();
    }

    @Override
    public void told(long number) {
        if (broken) {
            return;
        }
        if (numberCount.incrementAndGet() > MOST_NUMBERS) {
            // Bounds this process's heap. Ignoring a number would leave its call running until the connection ends, so
            // the connection ends.
            broken = true;
            ended();
            return;
        }
        numbers.add(number);
        inner.ring();
    }

    @Override
    public final void ended() {
        // The outer end becomes readable for good.
        inner.close();
    }

    /** Pushes what was published but not pushed yet: in shared memory the peer would find it, too. */
    private void carryRest() {
        push();
        long end = System.nanoTime() + REST_NANOS;
        while (wanted.get() != 0 && System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }

    @Override
    public final void close() {
        if (!closing.compareAndSet(false, true)) {
            awaitClosed();
            return;
        }
        try {
            carryRest();
        } finally {
            over = true;
            carrier.close();
            inner.close();
            outer.close();
            mapping.close();
            closed.countDown();
        }
    }

    /** A second closer waits, too: no thread may touch the memory once close has returned. */
    private void awaitClosed() {
        try {
            if (!closed.await(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException(
                        "the end of a mirrored connection takes longer than " + CLOSE_SECONDS + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
