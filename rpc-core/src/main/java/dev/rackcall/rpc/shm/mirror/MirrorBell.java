package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.MirroringBell;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.LogLimit;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.ScopeRuns;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.shm.waiting.WaitStrategy;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The bell of a connection whose ends have memory of their own. Nobody watches there, so whoever has published rings, and the ring carries over what was published. One
 * thread at a time does so: who finds another at it leaves it to that one, who looks once more before he goes.
 *
 * <p>Pollers and callers that spin look for what arrives by themselves. Those that sleep listen before, and a ring goes through a socket pair of this process.
 */
abstract class MirrorBell implements MirroringBell, Carrier.Arrivals {
    /** A scope of so many bytes, or more, is fetched page by page by whoever follows Refs into it, where that is allowed. */
    static final long FETCHED_FROM = 4 << 20;

    /** How often a thread that has rung looks for what others have published meanwhile, before it goes its own way. */
    private static final int ROUNDS = 8;

    private static final Logger LOG = LoggerFactory.getLogger(MirrorBell.class);
    private static final LogLimit LOG_LIMIT = new LogLimit();

    /** How long an end waits for the thread that is just carrying. */
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** How long a second closer waits for the first: it carries the rest, and its carrier lets that arrive. */
    private static final long CLOSE_SECONDS = 5;
    /** Numbers that wait to be taken: more than a peer can have to tell of its calls between two looks of the thread that takes them. */
    static final int MOST_NUMBERS = 1 << 16;

    final Carrier carrier;
    final Mapping mapping;
    private final UnixSocket inner;
    private final UnixSocket outer;
    private final Queue<Long> numbers = new ConcurrentLinkedQueue<>();
    /** How many those are, or one more for a moment. */
    private final AtomicInteger numberCount = new AtomicInteger();

    private final AtomicInteger wanted = new AtomicInteger();
    private final ReentrantLock scopeLock = new ReentrantLock();
    private final ScopeRuns runs = new ScopeRuns();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile boolean over;
    /** Something could not be carried. */
    private volatile boolean broken;

    MirrorBell(Carrier carrier, Mapping mapping) {
        this.carrier = carrier;
        this.mapping = mapping;
        UnixSocket.Pair pair = UnixSocket.pair();
        this.inner = pair.left();
        this.outer = pair.right();
    }

    /**
     * As long as {@code waiting} in time, for a thread that looks where others pause. If it looked as often, a thread that shares its core would have used up its turn before it sleeps, and wait
     * for the next one just when the answer comes.
     */
    @Override
    public final WaitStrategy looking(WaitStrategy waiting) {
        return waiting.sleeps()
                ? new WaitStrategy(Math.ceilDiv(waiting.spins(), carrier.pausesPerLook()), waiting.yields())
                : waiting;
    }

    @Override
    public final int pausesPerLook() {
        return carrier.pausesPerLook();
    }

    @Override
    public final Optional<Status> endCause() {
        return carrier.endCause();
    }

    final MemorySegment memory() {
        return mapping.memory();
    }

    /**
     * Carries over what was published since the last time and before this was called; of what is published later perhaps some. One thread at a time.
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
        // Whoever raises it from 0 carries, for all who raise it meanwhile, too: what they published before is seen by
        // the look that follows.
        if (wanted.getAndIncrement() != 0) {
            return true;
        }
        return carry(ROUNDS);
    }

    /** By the one who has the duty: carries until nobody has rung since it began to look, or for so many rounds, after which a thread of its own goes on. */
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
            // Not virtual: virtual threads that spin for an answer may have all processors, and wait for this one.
            Thread.ofPlatform().daemon().name("rackcall-carry").start(() -> carry(Integer.MAX_VALUE));
            return true;
        } catch (RuntimeException | Error e) {
            // A host without threads to spare: the duty would be nobody's.
            breakOff(e);
            return false;
        }
    }

    private boolean carryHere() {
        try {
            return !over && !broken && carryPublished();
        } catch (RuntimeException | Error e) {
            // Or else: unmapped meanwhile.
            if (!over) {
                breakOff(e);
            }
            return false;
        }
    }

    /** What cannot be carried now would be missing in what is carried later: the connection ends, and with it every call that waits for some of that. */
    private void breakOff(Throwable cause) {
        broken = true;
        if (LOG_LIMIT.allows()) {
            LOG.error(
                    "a connection ends because what was published cannot be carried over{}",
                    LOG_LIMIT.skipped(),
                    cause);
        }
        ended();
    }

    /**
     * Carries the scope that an object is in, before the word that passes the object. Any thread.
     *
     * @param least bytes of a scope that is left where it is
     * @return false if it was left
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
                // A peer that is gone is noticed by the ring that follows.
                carrier.carryChanged(arenaOffset + Ref.offset(runs.ref(i)), runs.bytes(i));
            }
            return true;
        } finally {
            runs.clear();
            scopeLock.unlock();
        }
    }

    /** Takes in what the peer has carried over. By a thread that spins for it. */
    @Override
    public final void look() {
        if (!over) {
            carrier.look();
        }
    }

    /** What the peer publishes from now on rings on this side. By a thread that is about to sleep, before its last look at the memory. */
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
    public final int fd() {
        return outer.fd();
    }

    @Override
    public final int drain(LongConsumer taker) {
        if (over) {
            return -1;
        }
        int rings = outer.drain();
        // What comes from here on rings again: a peer that tells for ever does not keep this thread.
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
            // It does not fill this process's heap. But a number that is passed over in silence would keep what it was
            // about for as long as the connection lasts: so that ends.
            broken = true;
            ended();
            return;
        }
        numbers.add(number);
        inner.ring();
    }

    @Override
    public final void ended() {
        // The outer end becomes readable, and says so for ever.
        inner.close();
    }

    /** What was published but not rung for yet: in shared memory the peer would find it, too. */
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

    /** Whoever closes may rely on it that nobody touches the memory afterwards, also who was not the first. */
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
