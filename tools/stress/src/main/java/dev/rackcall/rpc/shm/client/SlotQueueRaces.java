package dev.rackcall.rpc.shm.client;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Races of the callers that wait for a slot: the first one to wait, the next one, and calls that leave their slots. */
public final class SlotQueueRaces {
    private static final VarHandle FREE;

    static {
        try {
            FREE = MethodHandles.lookup().findVarHandle(Slot.class, "free", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private SlotQueueRaces() {}

    /** A slot, as {@link ClientSlot} releases it. */
    static final class Slot {
        @SuppressWarnings("unused") // FREE
        private boolean free;

        void release() {
            FREE.setRelease(this, true);
        }

        boolean isFree() {
            return (boolean) FREE.getAcquire(this);
        }
    }

    /** The first thread to wait sees the free slot or is woken, although the call that leaves it may not fence. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "It sees the slot, is woken, or both.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "It sleeps beside a free slot.")
    @State
    public static class First {
        private final Slot slot = new Slot();
        private final SlotQueue queue = new SlotQueue();
        private final SlotQueue.Waiter waiter = queue.enter(0);

        @Actor
        public void waits(II_Result seen) {
            queue.open(waiter);
            seen.r1 = slot.isFree() ? 1 : 0;
        }

        @Actor
        public void leaves() {
            slot.release();
            if (queue.isWanted()) {
                queue.left();
            }
        }

        @Arbiter
        public void end(II_Result seen) {
            seen.r2 = waiter.isWoken() ? 1 : 0;
        }
    }

    /** The same when calls already look at the queue, and the last one has found it empty so often that it gives up. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "It sees the slot, is woken, or both.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "It sleeps beside a free slot.")
    @State
    public static class GivingUp {
        private final Slot slot = new Slot();
        private final SlotQueue queue = new SlotQueue();
        private SlotQueue.Waiter waiter = queue.enter(0);

        public GivingUp() {
            queue.open(waiter);
            queue.leave(waiter);
            for (int i = 0; i < SlotQueue.UNNEEDED; i++) {
                queue.left();
            }
        }

        @Actor
        public void waits(II_Result seen) {
            waiter = queue.enter(0);
            queue.open(waiter);
            seen.r1 = slot.isFree() ? 1 : 0;
        }

        @Actor
        public void leaves() {
            slot.release();
            if (queue.isWanted()) {
                queue.left();
            }
        }

        @Arbiter
        public void end(II_Result seen) {
            seen.r2 = waiter.isWoken() ? 1 : 0;
        }
    }

    /** A thread that finds another one ahead of it is woken when that one leaves. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "It is the first, is woken, or both.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "It sleeps though it is the first.")
    @State
    public static class Next {
        private final SlotQueue queue = new SlotQueue();
        private final SlotQueue.Waiter first = queue.enter(0);
        private SlotQueue.Waiter next;

        @Actor
        public void leaves() {
            queue.leave(first);
        }

        @Actor
        public void waits(II_Result seen) {
            next = queue.enter(0);
            SlotQueue.rest(next);
            seen.r1 = queue.isFirst(next) ? 1 : 0;
        }

        @Arbiter
        public void end(II_Result seen) {
            seen.r2 = next.isWoken() ? 1 : 0;
        }
    }

    /** A planted bug: {@link First} without the handshake. Every processor moves a load before an earlier store. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "It sees the slot, is woken, or both.")
    @Outcome(id = "0, 0", expect = ACCEPTABLE_INTERESTING, desc = "The bug: it sleeps beside a free slot.")
    @State
    public static class PlantedNoHandshake {
        private final Slot slot = new Slot();
        private volatile boolean wanted;
        private volatile boolean woken;

        @Actor
        public void waits(II_Result seen) {
            wanted = true;
            seen.r1 = slot.isFree() ? 1 : 0;
        }

        @Actor
        public void leaves() {
            slot.release();
            if (wanted) {
                woken = true;
            }
        }

        @Arbiter
        public void end(II_Result seen) {
            seen.r2 = woken ? 1 : 0;
        }
    }
}
