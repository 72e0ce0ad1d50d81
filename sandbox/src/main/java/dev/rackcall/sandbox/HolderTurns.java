package dev.rackcall.sandbox;

import dev.rackcall.shm.os.Affinity;
import dev.rackcall.shm.os.Futex;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Processor;
import dev.rackcall.shm.waiting.Processors;
import dev.rackcall.shm.waiting.SpinTime;
import dev.rackcall.shm.waiting.Spinning;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.lang.foreign.MemorySegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a sealed process and its holder wait for each other's next number and wake each other; {@link HolderLayout} has
 * the words. A side spins as long as that pays, announces its sleep, and sleeps. The other side makes a system call
 * only for a sleeper. Each side has one object, which one thread at a time may use. Publishing and waiting allocate
 * nothing.
 */
final class HolderTurns {
    private static final Logger LOG = LoggerFactory.getLogger(HolderTurns.class);
    /** Polls between two readings of the clock: one to two microseconds. */
    private static final int SPINS_PER_STEP = 32;

    /** Client, server and holder. */
    private static final int PARTIES = 3;

    private final MemorySegment own;
    private final MemorySegment peer;
    private final Spinning spinning = new Spinning(WaitStrategy.adaptive(), SpinTime.ofMemory());
    /** A processor on which this thread may not run. */
    private int refused = Processor.UNKNOWN;

    /**
     * @param own the area that this side writes
     * @param peer the area that the other side writes
     */
    HolderTurns(MemorySegment own, MemorySegment peer) {
        this.own = own;
        this.peer = peer;
    }

    /**
     * Publishes this side's next number, and wakes the other side if it sleeps.
     *
     * @return whether it slept
     */
    boolean publish(int number) {
        HolderLayout.processor(own, Processor.current());
        boolean sleeps = HolderLayout.publish(own, peer, number);
        if (sleeps) {
            Futex.wake(own, HolderLayout.NUMBER, 1);
        }
        return sleeps;
    }

    /**
     * Waits until the other side has published another number than {@code seen}.
     *
     * @return false if it has not. The wait then took about {@code sleepNanos}, or a signal ended it
     */
    boolean await(int seen, long sleepNanos) {
        spinning.begin();
        if (spin(seen)) {
            spinning.met();
            return true;
        }
        if (sleep(seen, sleepNanos)) {
            spinning.slept();
            return true;
        }
        return false;
    }

    private boolean spin(int seen) {
        do {
            for (int i = SPINS_PER_STEP; i > 0; i--) {
                if (HolderLayout.number(peer) != seen) {
                    return true;
                }
                Thread.onSpinWait();
            }
        } while (spinning.goesOn(HolderLayout.processor(peer) == Processor.current()));
        return false;
    }

    private boolean sleep(int seen, long nanos) {
        HolderLayout.fallAsleep(own);
        try {
            // Reads the number once more, after the announcement.
            Futex.await(peer, HolderLayout.NUMBER, seen, nanos);
        } finally {
            HolderLayout.wakeUp(own);
        }
        return HolderLayout.number(peer) != seen;
    }

    /**
     * Moves the holder's thread to the processor of its process, if client, server and holder cannot have one each. The
     * two take turns anyway. Elsewhere the holder would wait for the server to stop spinning, and the kernel does not
     * move it away by itself.
     */
    void follow() {
        int processor = HolderLayout.processor(peer);
        if (Processors.count() < PARTIES && processor != Processor.current() && processor != refused) {
            try {
                Affinity.pin(processor);
            } catch (OsException | IllegalArgumentException e) {
                // The process may write any number, or run where the holder may not.
                refused = processor;
                LOG.debug("the holder's thread stays on its processor: {}", e.getMessage());
            }
        }
    }
}
