package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.shm.protocol.CallWaits;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.LostWakeUps;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.shm.os.Affinity;
import dev.rackcall.shm.os.Futex;
import dev.rackcall.shm.os.Processor;
import dev.rackcall.shm.waiting.Processors;
import dev.rackcall.shm.waiting.SpinLimit;
import dev.rackcall.shm.waiting.SpinTime;
import dev.rackcall.shm.waiting.Spinning;
import dev.rackcall.shm.waiting.WaitCounts;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * How a thread waits for the answer to its call. It reads the response's word for a moment, then spins as the channel's
 * wait strategy says, and finally sleeps: on a futex, or parked if it is a virtual thread.
 *
 * <p>A caller that finds the server on its own processor must not spin there: the server could not run. A busy caller
 * moves to another processor; any other caller yields. A caller whose answer an agent process moves yields, too.
 * Thread-safe.
 */
final class AnswerWaiting {
    /** Polls before the thread first reads the clock: about as long as a short handler takes on another processor. */
    private static final int FIRST_SPINS = 64;

    /** Polls between two readings of the clock: one to two microseconds. */
    private static final int SPINS_PER_STEP = 32;

    /** A caller is busy, and worth a processor of its own, if the last wait ended less than this ago. */
    private static final long BUSY_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    /** A single sleep lasts at most one and a half times as long. Bounds the delay if a server sends no wake-up. */
    static final long MAX_SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** A thread that goes on so long after its sleep had no processor in between. */
    private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** Least time between two moves: a move costs some microseconds, and the kernel moves threads, too. */
    private static final long MOVE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final ShmClientConnection connection;
    private final MemorySegment memory;
    private final boolean mirrored;
    private final WaitStrategy strategy;
    private final SpinTime answerTime;
    /** Whether the server's processor matters, and is known. */
    private final boolean findsServer;
    /** Maximum number of spinning threads in this process. */
    private final int mostSpinning;

    private final long defaultTimeoutNanos;
    private final int firstSpins;

    /** Whether the last slow wait found the server on its own processor: polling would only keep the server waiting. */
    private boolean together;
    // nanoTime hints, written by all callers. A lost update costs one move too many or too few.
    private long lastWait;
    private long lastMove = System.nanoTime() - MOVE_NANOS;

    AnswerWaiting(ShmClientConnection connection) {
        this.connection = connection;
        this.memory = connection.memory;
        this.mirrored = connection.end.isMirrored();
        this.strategy = connection.spec.waiting();
        this.answerTime = connection.end.newAnswerTime();
        this.findsServer = strategy == WaitStrategy.ADAPTIVE && connection.end.hasServerOnThisHost();
        this.together = findsServer && Spinning.alwaysShares();
        // More spinning threads than processors only keep each other, and the server, from running. With mirrored
        // memory a device does most of the remote server's work on this host; polling threads do the rest.
        this.mostSpinning = strategy == WaitStrategy.BUSY_SPIN
                ? Integer.MAX_VALUE
                : mirrored ? Math.max(1, Processors.count() - 1) : Processors.count();
        this.defaultTimeoutNanos = connection.spec.defaultTimeout().toNanos();
        this.firstSpins = mirrored || strategy == WaitStrategy.BLOCKING ? 0 : FIRST_SPINS;
    }

    /**
     * How the calling thread waits on a channel of that strategy. A virtual thread does not spin forever: it would keep
     * its carrier thread from all other virtual threads.
     */
    static WaitStrategy ofThread(WaitStrategy strategy) {
        return strategy == WaitStrategy.BUSY_SPIN && Thread.currentThread().isVirtual()
                ? WaitStrategy.ADAPTIVE
                : strategy;
    }

    /** Waits on the calling thread for the response to {@code call}; returns its word. */
    long await(ShmClientCall call) {
        long ticket = call.ticket();
        long slot = call.slot;
        MemorySegment local = memory;
        for (int i = together || isWakingServer() ? 0 : firstSpins; i >= 0; i--) {
            long word = SlotLayout.responseWord(local, slot);
            if (SlotLayout.isOf(word, ticket)) {
                return word;
            }
            Thread.onSpinWait();
        }
        connection.slots.passOverOwn();
        Wait wait = new Wait(call, ticket);
        try {
            return wait.spin() ? wait.answer() : wait.sleep();
        } finally {
            lastWait = System.nanoTime();
        }
    }

    /**
     * Whether the server was rung and does not run yet. The kernel likes to wake it on the processor of the caller that
     * rang, where it waits for that caller to sleep or yield.
     */
    private boolean isWakingServer() {
        return findsServer && ControlLayout.isRung(memory);
    }

    /** One wait that took longer than the first polls. Confined to the waiting thread. */
    private final class Wait extends Spin {
        private final ShmClientCall call;
        private final long ticket;
        /** Whether the call's deadline had passed before the answer was first waited for. */
        private final boolean late;

        /** On the connection's clock. */
        private final long end;

        /** Why the thread sleeps, as {@link ConnectionEvents.WaitEvent#reason} says. */
        private String slept = "BLOCKING";

        Wait(ShmClientCall call, long ticket) {
            super(ofThread(strategy), answerTime);
            this.call = call;
            this.ticket = ticket;
            this.late = call.isLate();
            long known = call.end();
            this.end = known != 0 ? known : spinning.start() + defaultTimeoutNanos;
        }

        /** Spins until the answer has arrived or spinning no longer pays; returns whether it has arrived. */
        boolean spin() {
            if (strategy == WaitStrategy.BLOCKING) {
                return false;
            }
            if (!begins()) {
                slept = "LIMITED";
                return false;
            }
            try {
                boolean shares = sharesProcessor();
                while (!(shares ? isAnswered() : isAnsweredSoon())) {
                    requireHope();
                    if (!goesOn(shares)) {
                        slept = spinning.wasPreempted() ? "PREEMPTED" : shares ? "SERVER_HERE" : "SPUN";
                        return false;
                    }
                    shares = sharesProcessor();
                }
                spinning.met();
                WaitCounts.add(WaitCounts.Kind.ANSWER_SPUN);
                if (spinning.hasYielded()) {
                    CallWaits.add(memory, CallWaits.Kind.YIELDED);
                }
                return true;
            } finally {
                SpinLimit.leave();
            }
        }

        private boolean isAnsweredSoon() {
            if (mirrored) {
                connection.end.look();
                return isAnswered();
            }
            for (int i = SPINS_PER_STEP; i > 0; i--) {
                if (isAnswered()) {
                    return true;
                }
                Thread.onSpinWait();
            }
            return false;
        }

        /** Sleeps until the answer has arrived; returns its word. */
        long sleep() {
            ConnectionEvents.WaitEvent event = ConnectionEvents.waitBegins();
            boolean interrupted = false;
            try {
                while (!isAnswered()) {
                    // A call that an interrupt does not end: while the flag is set, no park would sleep.
                    interrupted |= !call.endsWhenInterrupted() && Thread.interrupted();
                    requireHope();
                    connection.end.look();
                    long left = connection.clock.left(end);
                    if (Thread.currentThread().isVirtual()) {
                        connection.async.park(call, Math.clamp(left, 1, MAX_SLEEP_NANOS));
                    } else {
                        long longest = longestSleep();
                        sleep(Math.clamp(left, 1, longest), left >= longest);
                    }
                }
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
                ConnectionEvents.waited(event, connection.spec.channel(), "ANSWER", slept);
            }
            spinning.slept();
            WaitCounts.add(WaitCounts.Kind.ANSWER_SLEPT);
            CallWaits.add(memory, CallWaits.Kind.SLEPT);
            return answer();
        }

        /**
         * Varies: an answer that comes at the very end of a sleep, as those of handlers that take 100 ms, could otherwise
         * often pass for one whose wake-up was lost.
         */
        private static long longestSleep() {
            return MAX_SLEEP_NANOS + ThreadLocalRandom.current().nextLong(MAX_SLEEP_NANOS / 2);
        }

        private void sleep(long nanos, boolean toItsBound) {
            ControlLayout.fallAsleep(memory, call.index);
            try {
                connection.end.listen();
                // The volatile update above precedes this check. The server publishes, fences, and then checks for
                // sleepers.
                long seen = SlotLayout.responseWord(memory, call.slot);
                if (!SlotLayout.isOf(seen, ticket) && oversleeps(seen, nanos) && toItsBound) {
                    countIfLost();
                }
            } finally {
                ControlLayout.wakeUp(memory, call.index);
            }
        }

        /**
         * Sleeps while the response's word is this one; returns whether the time ran out, and this thread then had a
         * processor at once. A thread that had none may have missed its wake-up between two sleeps.
         */
        private boolean oversleeps(long seen, long nanos) {
            long due = System.nanoTime() + nanos;
            return !Futex.await(memory, call.slot + SlotLayout.RESPONSE_WORD, (int) seen, nanos)
                    && System.nanoTime() - due < LATE_NANOS;
        }

        private void countIfLost() {
            long seen = SlotLayout.responseWord(memory, call.slot);
            if (SlotLayout.isOf(seen, ticket)
                    && connection.hasRestingServer()
                    && oversleeps(seen, LostWakeUps.grace())
                    && connection.hasRestingServer()) {
                LostWakeUps.found("a caller on channel " + connection.spec.channel());
            }
        }

        private boolean isAnswered() {
            return SlotLayout.isOf(SlotLayout.responseWord(memory, call.slot), ticket);
        }

        /**
         * The word of the answer that has arrived. An answer published before the server died counts. An answer sent
         * after this side closed does not: it only reports the close.
         */
        long answer() {
            long word = SlotLayout.responseWord(memory, call.slot);
            if (!connection.isOpen() && connection.end.isClosedHere()) {
                throw call.lost(connection.end.failure());
            }
            return word;
        }

        /**
         * Ends the call if the connection has ended, the deadline has passed, or the thread was interrupted, unless the
         * answer has arrived.
         */
        private void requireHope() {
            boolean open = connection.isOpen();
            boolean inTime = connection.clock.left(end) > 0;
            boolean interrupted = Thread.currentThread().isInterrupted() && call.endsWhenInterrupted();
            if ((open && inTime && !interrupted) || isAnswered()) {
                return;
            }
            if (!open) {
                throw call.lost(connection.end.failure());
            }
            throw inTime ? call.interrupted() : call.timedOut(late);
        }
    }

    /** The spinning of one wait, beside a server whose processor the thread may be on. Confined to that thread. */
    class Spin {
        final Spinning spinning;

        Spin(WaitStrategy strategy, SpinTime time) {
            this.spinning = new Spinning(strategy, time).begin();
        }

        /** Whether the thread may spin; then it counts as spinning until {@link #ends}. */
        final boolean begins() {
            return SpinLimit.enter(mostSpinning);
        }

        /** For waits outside of {@link #await}. */
        final void ends() {
            SpinLimit.leave();
            lastWait = System.nanoTime();
        }

        /** Whether to check again rather than to sleep, after the thread has {@linkplain #sharesProcessor looked}. */
        final boolean goesOn(boolean shares) {
            if (shares) {
                return ControlLayout.yields(memory) && spinning.goesOnTogether();
            }
            return spinning.goesOn(connection.end.yieldsToProcess());
        }

        /**
         * Whether the server runs, or last ran, on this thread's processor, and this thread could not move to another.
         * Tells the server, which then yields rather than spins.
         */
        final boolean sharesProcessor() {
            if (!findsServer || Spinning.alwaysShares()) {
                return findsServer;
            }
            int processor = Processor.current();
            boolean shares = isWakingServer() || (ControlLayout.processor(memory) == processor && !movesAside());
            if (shares != together || shares) {
                together = shares;
                ControlLayout.caller(memory, shares ? processor : Processor.UNKNOWN);
            }
            return shares;
        }

        private boolean movesAside() {
            long now = spinning.start();
            if (now - lastWait > BUSY_NANOS
                    || now - lastMove < MOVE_NANOS
                    || Thread.currentThread().isVirtual()) {
                return false;
            }
            lastMove = now;
            boolean moved = Affinity.moveAside();
            if (moved) {
                WaitCounts.add(WaitCounts.Kind.MOVED_ASIDE);
            }
            return moved;
        }
    }
}
