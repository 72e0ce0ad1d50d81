package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How a thread waits for the answer to its call: it looks at the response's word, a short while at first, and then by the channel's strategy until it
 * sleeps, in the kernel or, if it is virtual, parked. Thread-safe.
 */
final class AnswerWaiting {
    /** Looks before anything else: the clock, who else waits, whether the connection is open. */
    private static final int FIRST_SPINS = 1024;

    /** Looks at a device that has to deliver the answer, before the wait follows its strategy: the clock, who else waits. */
    private static final int FIRST_LOOKS = 32;

    /** While the server is being woken: as long as that takes where it has a core of its own, then its turn on this one. */
    private static final WaitStrategy WAKING = new WaitStrategy(1_000, 20);

    private static final int CORES = Runtime.getRuntime().availableProcessors();

    /** Threads of this process that wait for longer than a few microseconds. */
    private static final AtomicInteger SPINNING = new AtomicInteger();

    private final ShmClientConnection connection;
    private final MemorySegment memory;
    private final boolean mirrored;
    private final WaitStrategy asked;
    /** Threads of this process that may do so by spinning. */
    private final int mostSpinning;

    private final long defaultTimeoutNanos;
    private final int firstSpins;
    private final int firstLooks;

    AnswerWaiting(ShmClientConnection connection) {
        this.connection = connection;
        this.memory = connection.memory;
        this.mirrored = connection.link.isMirrored();
        this.asked = connection.link.looking(connection.spec.waiting());
        // What another host's server needs of this one is done by its device, or by who looks.
        this.mostSpinning = mirrored ? Math.max(1, CORES - 1) : CORES - 1;
        this.defaultTimeoutNanos = connection.spec.defaultTimeout().toNanos();
        this.firstSpins = mirrored ? 0 : Math.min(FIRST_SPINS, asked.spins());
        this.firstLooks = mirrored ? Math.min(FIRST_LOOKS, asked.spins()) : 0;
    }

    /** Waits for the response to {@code call} on the calling thread; returns its word. */
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
            connection.link.look();
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

    /** How to wait for what did not come at once, if so many threads of this process already do. */
    private WaitStrategy strategy(int others) {
        if (!asked.sleeps()) {
            return asked;
        }
        if (others >= mostSpinning) {
            // More spinning threads than cores only keep each other, and the server, from running.
            return WaitStrategy.blocking();
        }
        if (mirrored) {
            // Nobody here knows whether the server polls.
            return asked;
        }
        // A server that still does not poll is being woken, and may need this very core for that.
        return asked.spins() <= WAKING.spins() || ControlLayout.isWatched(memory) ? asked : WAKING;
    }

    private long awaitSlowly(ShmClientCall call, long ticket, boolean late, SpinWait wait) {
        boolean inTime = true;
        while (true) {
            long word = SlotLayout.responseWord(memory, call.slot);
            boolean open = connection.isOpen();
            // A server that died after it had answered did answer; but what comes after we closed is only the echo of
            // that.
            if (SlotLayout.isOf(word, ticket) && (open || !connection.link.isClosedHere())) {
                return word;
            }
            if (!open) {
                throw call.lost(connection.link.failure());
            }
            if (!inTime) {
                throw call.timedOut(late);
            }
            connection.link.look();
            inTime = wait.maySleep() ? sleep(call, ticket, wait) : wait.once();
        }
    }

    private boolean sleep(ShmClientCall call, long ticket, SpinWait wait) {
        if (Thread.currentThread().isVirtual()) {
            return connection.async.park(call, wait);
        }
        ControlLayout.addSleeper(memory, 1);
        try {
            connection.link.listen();
            // Volatile add above, then this look: the server publishes, fences and then looks at the sleepers.
            long seen = SlotLayout.responseWord(memory, call.slot);
            return SlotLayout.isOf(seen, ticket)
                    || wait.sleep(memory, call.slot + SlotLayout.RESPONSE_WORD, (int) seen);
        } finally {
            ControlLayout.addSleeper(memory, -1);
        }
    }
}
