package dev.rackcall.rpc.shm.server;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Races of a poller, which reads its mailbox and goes to sleep, with a thread that posts an action. */
public final class MailboxRaces {
    private MailboxRaces() {}

    private static void nothing() {}

    /** A poller that goes to sleep sees the action, or the thread that posts it wakes the poller. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "It sees the action, is woken, or both.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "It sleeps beside an action.")
    @State
    public static class PollerSleeps {
        private final Poller.Mailbox mail = new Poller.Mailbox();

        @Actor
        public void poller(II_Result seen) {
            seen.r1 = mail.fallAsleep() ? 0 : 1;
        }

        /** As {@link Poller#post}. */
        @Actor
        public void posts(II_Result seen) {
            mail.add(MailboxRaces::nothing);
            seen.r2 = mail.isReaderAsleep() ? 1 : 0;
        }
    }

    /** A poller that stays awake runs the action or still sees that it may have mail. */
    @JCStressTest
    @Outcome(
            id = "0, 1|1, 0|1, 1",
            expect = ACCEPTABLE,
            desc = "It runs the action, sees that it may have mail, or both.")
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "It never looks at the action.")
    @State
    public static class PollerReads {
        private final Poller.Mailbox mail = new Poller.Mailbox();
        private boolean hasRun;

        @Actor
        public void poller(II_Result seen) {
            mail.runAll();
            seen.r1 = hasRun ? 1 : 0;
        }

        @Actor
        public void posts() {
            mail.add(() -> hasRun = true);
        }

        @Arbiter
        public void end(II_Result seen) {
            seen.r2 = mail.mayHaveMail() ? 1 : 0;
        }
    }

    /** A planted bug: {@link PollerSleeps} with a poller that announces its sleep after its last look at the mail. */
    @JCStressTest
    @Outcome(id = "0, 1|1, 0|1, 1", expect = ACCEPTABLE, desc = "It sees the action, is woken, or both.")
    @Outcome(id = "0, 0", expect = ACCEPTABLE_INTERESTING, desc = "The bug: it sleeps beside an action.")
    @State
    public static class PlantedLateAnnouncement {
        private final Queue<Runnable> actions = new ConcurrentLinkedQueue<>();
        private volatile boolean readerAsleep;

        @Actor
        public void poller(II_Result seen) {
            seen.r1 = actions.isEmpty() ? 0 : 1;
            readerAsleep = true;
        }

        @Actor
        public void posts(II_Result seen) {
            actions.add(MailboxRaces::nothing);
            seen.r2 = readerAsleep ? 1 : 0;
        }
    }

    /** A planted bug: {@link PollerReads} with a thread that says that there is mail before it adds the action. */
    @JCStressTest
    @Outcome(
            id = "0, 1|1, 0|1, 1",
            expect = ACCEPTABLE,
            desc = "It runs the action, sees that it may have mail, or both.")
    @Outcome(id = "0, 0", expect = ACCEPTABLE_INTERESTING, desc = "The bug: it never looks at the action.")
    @State
    public static class PlantedEarlyMark {
        private final Queue<Runnable> actions = new ConcurrentLinkedQueue<>();
        private volatile boolean mailed;

        @Actor
        public void poller(II_Result seen) {
            mailed = false;
            seen.r1 = actions.poll() != null ? 1 : 0;
        }

        @Actor
        public void posts() {
            mailed = true;
            actions.add(MailboxRaces::nothing);
        }

        @Arbiter
        public void end(II_Result seen) {
            seen.r2 = mailed ? 1 : 0;
        }
    }
}
