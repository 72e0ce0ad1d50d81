package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.shm.protocol.LostWakeUps;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.shm.waiting.SpinTime;
import dev.rackcall.shm.waiting.Spinning;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** One thread's wait for a free slot, or for the server to take requests. */
final class RoomWait {
    /** Pause between two checks whether the server has taken requests, which it does not announce. */
    private static final long NAP_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    /** Longest single sleep in the queue. */
    private static final long MAX_SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** What the thread waits for. */
    interface Room {
        /** Completes asynchronous calls that are answered; returns how many. */
        int poll();

        /** Lets the reactor complete such calls while the thread sleeps. */
        void watch();

        /** Whether a queued thread has what it waits for. {@code wasFirst}: it was the first in the queue. */
        boolean hasTurn(SlotQueue.Waiter waiter, boolean wasFirst);

        /** The failure of a call that waited until its deadline. */
        RpcException outOfTime();
    }

    private final Room room;
    private final WaitStrategy strategy;
    private final Spinning spinning;
    private final ClientSpec spec;
    private final long end;
    private boolean spins = true;
    /** Whether the thread has spun, at least once. */
    private boolean hasSpun;

    /** A wait of this thread for a slot of that channel, up to {@code end} on its clock. */
    RoomWait(Room room, ClientSpec spec, WaitStrategy strategy, SpinTime roomTime, long end) {
        this.room = room;
        this.spec = spec;
        this.strategy = strategy;
        this.spinning = new Spinning(strategy, roomTime).begin();
        this.end = end;
    }

    /** Completes calls that are answered, which may free slots, and waits a little. */
    void once() {
        room.poll();
        if (spec.clock().left(end) <= 0) {
            throw room.outOfTime();
        }
        spin();
        if (!spins) {
            nap();
        }
    }

    private void spin() {
        hasSpun |= spins;
        spins = spins && spinning.goesOn(true);
    }

    /** There is room: the next waits learn from this one, unless it was not for this thread's turn. */
    void ended() {
        if (spins && hasSpun) {
            spinning.met();
        } else if (hasSpun) {
            spinning.slept();
        }
    }

    /** Naps although the thread may be interrupted: a park would return at once, and the loop would spin. */
    private static void nap() {
        boolean interrupted = Thread.interrupted();
        LockSupport.parkNanos(NAP_NANOS);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until another thread leaves a slot or an earlier place in the queue. */
    void inQueue(SlotQueue.Waiter me, boolean first) {
        // Checked first: other calls' answers may keep arriving after this call's deadline.
        long left = spec.clock().left(end);
        if (left <= 0) {
            throw room.outOfTime();
        }
        if (first && (room.poll() > 0 || me.isWoken())) {
            return;
        }
        if (first || strategy == WaitStrategy.BUSY_SPIN) {
            spin();
        } else {
            spins = false;
        }
        if (!spins) {
            if (first) {
                room.watch();
            }
            if (left < MAX_SLEEP_NANOS) {
                SlotQueue.park(me, left);
            } else {
                LostWakeUps.sleep(
                        MAX_SLEEP_NANOS,
                        bound -> SlotQueue.park(me, bound) ? 1 : 0,
                        () -> room.hasTurn(me, first),
                        "a caller that waits for a slot of channel " + spec.channel());
            }
        }
    }
}
