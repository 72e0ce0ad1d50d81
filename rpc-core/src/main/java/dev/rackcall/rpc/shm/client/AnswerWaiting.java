package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How a thread waits for the answer to its call. It reads the response's word, then follows the channel's wait
 * strategy, and finally sleeps: on a futex, or parked if it is a virtual thread. Thread-safe.
 */
final class AnswerWaiting {
    /** Looks before the thread reads the clock, counts other waiters and checks that the connection is open. */
    private static final int FIRST_SPINS = 1024;

    /** The same for connections over a device, where each look polls that device. */
    private static final int FIRST_LOOKS = 32;

    /**
     * How long to wait for a server that is being woken: the time a wake-up takes on its own core, then a turn on this
     * one.
     */
    private static final WaitStrategy WAKING = new WaitStrategy(1_000, 20);

    private static final int CORES = Runtime.getRuntime().availableProcessors();

    /** Threads of this process that have waited for longer than a few microseconds. */
    private static final AtomicInteger SPINNING = new AtomicInteger();

    private final ShmClientConnection connection;
    private final MemorySegment memory;
    private final boolean mirrored;
    private final WaitStrategy asked;
    /** The number of those threads that may spin. */
    private final int mostSpinning;

    private final long defaultTimeoutNanos;
    private final int firstSpins;
    private final int firstLooks;

    AnswerWaiting(ShmClientConnection connection) {
        this.connection = connection;
        this.memory = connection.memory;
        this.mirrored = connection.end.isMirrored();
        this.asked = connection.end.looking(connection.spec.waiting());
        // A device does most of another host's server's work for this one; the rest is done by threads that look.
        this.mostSpinning = mirrored ? Math.max(1, CORES - 1) : CORES - 1;
        this.defaultTimeoutNanos = connection.spec.defaultTimeout().toNanos();
        this.firstSpins = mirrored ? 0 : Math.min(FIRST_SPINS, asked.spins());
        this.firstLooks = mirrored ? Math.min(FIRST_LOOKS, asked.spins()) : 0;
    }

    /** Waits on the calling thread for the response to {@code call}; returns its word. */
    long await(ShmClientCall call) {
        long ticket = call.ticket();
        long slot = call.slot;
        MemorySegment local = memory;
        for (int i = firstSpins; i >= 0; i--) {
            long word = SlotLayout.responseWord(local, slot);
            if (SlotLayout.isOf(word, ticket)) {
                return word;
            }
            Thread.onSpinWait();
        }
        return awaitSlowly(call, ticket);
    }

    private long awaitSlowly(ShmClientCall call, long ticket) {
        connection.slots.passOverOwn();
        boolean late = call.isLate();
        for (int i = 0; i < firstLooks; i++) {
            connection.end.look();
            long word = SlotLayout.responseWord(memory, call.slot);
            if (SlotLayout.isOf(word, ticket)) {
                return word;
            }
        }
        int others = SPINNING.getAndIncrement();
        try {
            return awaitSlowly(call, ticket, late, new SpinWait(strategy(others), call.deadline, defaultTimeoutNanos));
        } finally {
            SPINNING.getAndDecrement();
        }
    }

    /** The strategy for an answer that did not come at once, given the number of other threads that wait. */
    private WaitStrategy strategy(int others) {
        if (!asked.sleeps()) {
            return asked;
        }
        if (others >= mostSpinning) {
            // More spinning threads than cores only keep each other, and the server, from running.
            return WaitStrategy.blocking();
        }
        if (mirrored) {
            // This side cannot see whether a server with its own memory polls.
            return asked;
        }
        // A server that does not poll yet is being woken, and may need this core for that.
        return asked.spins() <= WAKING.spins() || ControlLayout.isWatched(memory) ? asked : WAKING;
    }

    private long awaitSlowly(ShmClientCall call, long ticket, boolean late, SpinWait wait) {
        boolean inTime = true;
        while (true) {
            long word = SlotLayout.responseWord(memory, call.slot);
            boolean open = connection.isOpen();
            // An answer published before the server died counts. An answer that comes after this side closed does not:
            // it only reports that close.
            if (SlotLayout.isOf(word, ticket) && (open || !connection.end.isClosedHere())) {
                return word;
            }
            if (!open) {
                throw call.lost(connection.end.failure());
            }
            if (!inTime) {
                throw call.timedOut(late);
            }
            connection.end.look();
            inTime = wait.maySleep() ? sleep(call, ticket, wait) : wait.once();
        }
    }

    private boolean sleep(ShmClientCall call, long ticket, SpinWait wait) {
        if (Thread.currentThread().isVirtual()) {
            return connection.async.park(call, wait);
        }
        ControlLayout.addSleeper(memory, 1);
        try {
            connection.end.listen();
            // Volatile add above, then this look. The server publishes, fences and then looks at the sleepers.
            long seen = SlotLayout.responseWord(memory, call.slot);
            return SlotLayout.isOf(seen, ticket)
                    || wait.sleep(memory, call.slot + SlotLayout.RESPONSE_WORD, (int) seen);
        } finally {
            ControlLayout.addSleeper(memory, -1);
        }
    }
}
