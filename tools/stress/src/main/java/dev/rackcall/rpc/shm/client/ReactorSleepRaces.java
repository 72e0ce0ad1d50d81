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

/** Races of the client's reactor, which goes to sleep, with a thread that has a call for it. */
public final class ReactorSleepRaces {
    private static final VarHandle CALLS;

    static {
        try {
            CALLS = MethodHandles.lookup().findVarHandle(Reactor.class, "calls", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private ReactorSleepRaces() {}

    /** The reactor's sleep, and the calls announced to it as {@link ClientSlot} announces them. */
    static class Reactor {
        final ReactorSleep sleep = new ReactorSleep(this::ring);
        /** As the event that ends the reactor's sleep: it lasts until the reactor reads it. */
        volatile boolean rung;

        @SuppressWarnings("unused") // CALLS
        private int calls;

        final void ring() {
            rung = true;
        }

        /** As {@link ClientSlot#setState}. */
        final void send(int count) {
            CALLS.setRelease(this, count);
        }

        final int seenCalls() {
            return (int) CALLS.getAcquire(this);
        }

        /** As the reactor between two sleeps. */
        final void sleepAgain() {
            rung = false;
            sleep.end();
            sleep.announce();
        }
    }

    /** A reactor that goes to sleep sees an asynchronous call or is woken. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "It sees the call, is woken, or both.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "It sleeps beside a call.")
    @State
    public static class ReactorSleeps extends Reactor {
        @Actor
        public void reactor(II_Result seen) {
            sleep.announce();
            seen.r1 = seenCalls();
        }

        @Actor
        public void sender() {
            send(1);
            VarHandle.fullFence();
            sleep.wakeIfIdle();
        }

        @Arbiter
        public void end(II_Result seen) {
            seen.r2 = rung ? 1 : 0;
        }
    }

    /** The same beside a virtual thread that parks: its announcement is volatile, so it does not fence. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "It sees the thread, is woken, or both.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "It sleeps beside a parked thread.")
    @State
    public static class ThreadParks extends Reactor {
        /** As {@link ClientSlot#waiter}. */
        private volatile Thread waiter;

        @Actor
        public void reactor(II_Result seen) {
            sleep.announce();
            seen.r1 = waiter != null ? 1 : 0;
        }

        @Actor
        public void parks() {
            waiter = Thread.currentThread();
            sleep.wakeIfIdle();
        }

        @Arbiter
        public void end(II_Result seen) {
            seen.r2 = rung ? 1 : 0;
        }
    }

    /** A wake-up that is late does not hide the reactor's next sleep from the next call. */
    @JCStressTest
    @Outcome(
            id = {"[01], 1", "2, [01]"},
            expect = ACCEPTABLE,
            desc = "It sees both calls, is woken, or both.")
    @Outcome(expect = FORBIDDEN, desc = "It sleeps beside a call.")
    @State
    public static class ReactorSleepsAgain extends Reactor {
        public ReactorSleepsAgain() {
            sleep.announce();
        }

        @Actor
        public void reactor(II_Result seen) {
            sleepAgain();
            seen.r1 = seenCalls();
        }

        @Actor
        public void sender() {
            send(1);
            VarHandle.fullFence();
            sleep.wakeIfIdle();
            send(2);
            VarHandle.fullFence();
            sleep.wakeIfIdle();
        }

        @Arbiter
        public void end(II_Result seen) {
            seen.r2 = rung ? 1 : 0;
        }
    }

    /** A planted bug: {@link ReactorSleeps} without the fence. Every processor moves a load before an earlier store. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "It sees the call, is woken, or both.")
    @Outcome(id = "0, 0", expect = ACCEPTABLE_INTERESTING, desc = "The bug: it sleeps beside a call.")
    @State
    public static class PlantedUnfencedSender extends Reactor {
        @Actor
        public void reactor(II_Result seen) {
            sleep.announce();
            seen.r1 = seenCalls();
        }

        @Actor
        public void sender() {
            send(1);
            sleep.wakeIfIdle();
        }

        @Arbiter
        public void end(II_Result seen) {
            seen.r2 = rung ? 1 : 0;
        }
    }

    /** A planted bug: {@link ReactorSleepsAgain} with a sender that takes back the announcement after the wake-up. */
    @JCStressTest
    @Outcome(
            id = {"[01], 1", "2, [01]"},
            expect = ACCEPTABLE,
            desc = "It sees both calls, is woken, or both.")
    @Outcome(id = "[01], 0", expect = ACCEPTABLE_INTERESTING, desc = "The bug: it sleeps beside a call.")
    @State
    public static class PlantedLateClear extends Reactor {
        public PlantedLateClear() {
            sleep.announce();
        }

        @Actor
        public void reactor(II_Result seen) {
            sleepAgain();
            seen.r1 = seenCalls();
        }

        @Actor
        public void sender() {
            send(1);
            wakeIfIdle();
            send(2);
            wakeIfIdle();
        }

        private void wakeIfIdle() {
            VarHandle.fullFence();
            if (sleep.isIdle()) {
                ring();
                sleep.end();
            }
        }

        @Arbiter
        public void end(II_Result seen) {
            seen.r2 = rung ? 1 : 0;
        }
    }
}
