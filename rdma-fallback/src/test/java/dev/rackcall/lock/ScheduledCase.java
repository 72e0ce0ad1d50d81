package dev.rackcall.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.lock.Schedule.Mortal;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.stream.IntStream;

/**
 * Threads that lock, die and are recovered in an order that a seed decides: what each thread does, what must hold
 * in the meantime, and what must be left at the end. Used by one thread at a time.
 */
final class ScheduledCase {
    private static final int DESCRIPTORS = 32;
    private static final int LOCKS = 2;
    private static final int ROUNDS = 6;
    /** While deaths are left, one in this many steps of a mortal thread kills it. */
    private static final int STEPS_A_DEATH = 60;

    private final MemorySegment memory = Arena.ofAuto().allocate(LockTable.bytes(DESCRIPTORS, LOCKS), 64);
    private final LockTable table;
    private final LockWords words = new ProcessorWords(memory);
    private final ScheduledWords.Nic nic = new ScheduledWords.Nic(4);
    private final Schedule schedule;
    private final Random random;
    private final boolean givesUp;
    private final boolean reads;
    private final Set<Long> dead = new HashSet<>();
    private final long[] inside = new long[LOCKS];
    private final List<Set<Long>> reading = List.of(new HashSet<>(), new HashSet<>());
    private final long[] tokens = new long[LOCKS];
    private int counter;
    private int counted;
    private final Map<LockSession, List<ALock>> kept = new HashMap<>();
    private int working;
    /** Threads that still have locks to take. */
    private final Set<Long> busy = new HashSet<>();

    private final List<ScheduledRest> rests = new ArrayList<>();

    private boolean apart;

    private int readersAtMost;

    ScheduledCase(long seed, boolean givesUp, boolean reads, int deaths) {
        table = reads
                ? LockTable.createWithReaders(memory, DESCRIPTORS, LOCKS)
                : LockTable.create(memory, DESCRIPTORS, LOCKS);
        this.reads = reads;
        schedule = new Schedule(seed, deaths == 0 ? 0 : STEPS_A_DEATH);
        schedule.letDie(deaths);
        random = schedule.random();
        this.givesUp = givesUp;
    }

    /** Threads that die together. */
    final class OneProcess {
        private final Mortal mortal = new Mortal(true);
        private final ScheduledRest rest = new ScheduledRest(schedule, mortal);
        private final LockFinisher finisher = new LockFinisher(new ScheduledWaiting(schedule, mortal), rest, 1);
        private boolean finished;
        private final List<Runnable> deaths = new ArrayList<>();
        private int threads;
        private int sessions;

        OneProcess() {
            rests.add(rest);
        }

        /** Runs {@code onDeath} once all of them are dead and none sends anything more. */
        private void add(Schedule.Work work, Runnable onDeath) {
            threads++;
            schedule.add(
                    () -> {
                        work.run();
                        threads--;
                        if (threads == 0) {
                            deaths.forEach(Runnable::run);
                        }
                    },
                    () -> {
                        deaths.add(onDeath);
                        threads--;
                        if (threads == 0) {
                            deaths.forEach(Runnable::run);
                        }
                    });
        }

        /** Its sessions do not wait for their unlocks. Called after they were added. */
        void finish() {
            if (sessions > 0) {
                add(
                        () -> {
                            finisher.run();
                            finished = true;
                        },
                        () -> {});
            }
        }

        /** Called by a thread between two calls. */
        private void assertLooksAfter(List<LockSession> sessions) {
            if (sessions.stream().anyMatch(LockSession::isLeaving)) {
                assertThat(rest.isForEver())
                        .as("it sleeps beside an open unlock")
                        .isFalse();
                assertThat(finished).as("it has ended beside an open unlock").isFalse();
            }
        }

        private void endSession() {
            sessions--;
            if (sessions == 0) {
                finisher.end();
            }
        }
    }

    void add(long owner, boolean remote, int budget, boolean hasBell) {
        add(owner, remote, budget, hasBell, new OneProcess(), false);
    }

    void add(long owner, boolean remote, int budget, boolean hasBell, OneProcess process, boolean finished) {
        Mortal mortal = process.mortal;
        ScheduledWords own = new ScheduledWords(words, schedule, mortal, nic, remote, hasBell ? (int) owner : 0);
        LockSession session =
                LockTable.session(own, new ScheduledWaiting(schedule, mortal), owner, budget, table.sizes());
        ScheduledWords others = new ScheduledWords(words, schedule, mortal, nic, remote, 0);
        LockSession other = session;
        if (finished) {
            session.finishedBy(process.finisher, own);
            // Another session of the same thread.
            other = LockTable.session(others, new ScheduledWaiting(schedule, mortal), owner, budget, table.sizes())
                    .finishedBy(process.finisher, others);
        }
        List<LockSession> sessions = List.of(session, other);
        working++;
        busy.add(owner);
        process.sessions++;
        process.add(
                () -> {
                    for (int i = 0; i < (apart ? 5 * ROUNDS : ROUNDS); i++) {
                        use(sessions.get(finished ? random.nextInt(2) : 0), mortal, owner);
                        assertOnePlaceInEachQueue(sessions);
                        process.assertLooksAfter(sessions);
                        if (finished) {
                            // The finisher may run.
                            for (int pauses = random.nextInt(40); pauses > 0; pauses--) {
                                schedule.step(mortal);
                            }
                            if (random.nextInt(40) == 0) {
                                process.finisher.end();
                            }
                        }
                    }
                    busy.remove(owner);
                    if (finished && random.nextBoolean()) {
                        // The thread does not come back: its follower depends on the finisher.
                        while (!busy.isEmpty()) {
                            schedule.step(mortal);
                        }
                    }
                    sessions.forEach(LockSession::close);
                    own.end();
                    others.end();
                    process.endSession();
                    working--;
                },
                () -> {
                    busy.remove(owner);
                    own.die();
                    others.die();
                    dead.add(owner);
                    for (int i = 0; i < LOCKS; i++) {
                        inside[i] = inside[i] == owner ? 0 : inside[i];
                        reading.get(i).remove(owner);
                    }
                    working--;
                });
    }

    /** A thread that gives up and comes back must not take one descriptor after the other. */
    private void assertOnePlaceInEachQueue(List<LockSession> sessions) {
        for (LockSession session : sessions) {
            assertThat(session.formerPlaces())
                    .as("places that it has given up and that are still in a queue")
                    .isLessThanOrEqualTo(LOCKS);
        }
    }

    private void use(LockSession session, Mortal mortal, long owner) throws InterruptedException {
        int index = apart && random.nextInt(8) != 0 ? (int) owner % LOCKS : random.nextInt(LOCKS);
        if (reads && random.nextInt(3) != 0) {
            read(session, index, mortal, owner);
            return;
        }
        ALock lock = lock(session, index);
        if (!take(lock)) {
            return;
        }
        enter(index, lock, owner);
        if (index == 0 && random.nextInt(4) == 0) {
            ALock second = lock(session, 1);
            if (take(second)) {
                enter(1, second, owner);
                leave(1, second, owner, mortal);
            }
        }
        leave(index, lock, owner, mortal);
    }

    /** Mostly the lock that the thread had before, which allows the fast path. */
    private ALock lock(LockSession session, int index) {
        if (random.nextInt(5) == 0) {
            return session.lock(index);
        }
        return kept.computeIfAbsent(
                        session,
                        all -> IntStream.range(0, LOCKS).mapToObj(all::lock).toList())
                .get(index);
    }

    private void read(LockSession session, int index, Mortal mortal, long owner) throws InterruptedException {
        Lock lock = session.readLock(index);
        if (!take(lock)) {
            return;
        }
        reading.get(index).add(owner);
        readersAtMost = Math.max(readersAtMost, reading.get(index).size());
        int seen = counter;
        for (int i = random.nextInt(30); i > 0; i--) {
            assertThat(inside[index])
                    .as("threads that hold lock %s alone", index)
                    .isZero();
            schedule.step(mortal);
        }
        assertThat(index == 0 ? counter : seen).as("the data while it is read").isEqualTo(seen);
        reading.get(index).remove(owner);
        lock.unlock();
    }

    private boolean take(Lock lock) throws InterruptedException {
        switch (givesUp ? random.nextInt(4) : 0) {
            case 1 -> {
                return lock.tryLock();
            }
            case 2 -> {
                // A random number of times, mostly while the abandoned place is still there.
                boolean taken = lock.tryLock(1, TimeUnit.DAYS);
                while (!taken && random.nextInt(3) != 0) {
                    taken = lock.tryLock(1, TimeUnit.DAYS);
                }
                return taken;
            }
            case 3 -> {
                try {
                    lock.lockInterruptibly();
                    return true;
                } catch (InterruptedException e) {
                    return false;
                }
            }
            default -> {
                lock.lock();
                return true;
            }
        }
    }

    private void enter(int index, ALock lock, long owner) {
        assertThat(inside[index]).as("other holders of lock %s", index).isZero();
        assertThat(reading.get(index)).as("readers of lock %s", index).isEmpty();
        inside[index] = owner;
        if (random.nextInt(3) == 0) {
            long token = lock.token();
            assertThat(token).as("tokens grow").isGreaterThan(tokens[index]);
            tokens[index] = token;
        }
    }

    private void leave(int index, ALock lock, long owner, Mortal mortal) {
        int seen = counter;
        for (int i = random.nextInt(6); i > 0; i--) {
            schedule.step(mortal);
        }
        if (index == 0) {
            counter = seen + 1;
            counted++;
        }
        assertThat(inside[index]).as("holder of lock %s", index).isEqualTo(owner);
        inside[index] = 0;
        lock.unlock();
    }

    /** A keeper that may die between any two steps, and another after it. */
    void addKeepers(int deadly) {
        for (int i = 0; i <= deadly; i++) {
            long owner = 1000L + i;
            boolean last = i == deadly;
            Mortal mortal = new Mortal(!last);
            ScheduledWords own = new ScheduledWords(words, schedule, mortal, nic, false, 0);
            ScheduledWords loopback = new ScheduledWords(words, schedule, mortal, nic, true, 0);
            schedule.add(() -> keep(own, loopback, owner, mortal, last), () -> {
                own.die();
                dead.add(owner);
            });
        }
    }

    private void keep(LockWords own, LockWords loopback, long owner, Mortal mortal, boolean last) {
        while (true) {
            schedule.step(mortal);
            if (!last && working == 0) {
                return;
            }
            try (LockKeeper keeper = table.keeper(own, Optional.of(loopback), owner, dead::contains)) {
                boolean over = working == 0;
                if (keeper.recover(dead::contains) == 0 && over) {
                    return;
                }
            } catch (IllegalStateException other) {
                // Another keeper lives.
            }
        }
    }

    /** Each thread mostly takes a lock of its own, and often, so that there is little contention. */
    void keepApart() {
        apart = true;
    }

    /** How often finishers went to sleep. */
    int sleeps() {
        return rests.stream().mapToInt(ScheduledRest::sleeps).sum();
    }

    /** The most readers that held a lock at a time. */
    int readersAtMost() {
        return readersAtMost;
    }

    void run() throws InterruptedException {
        schedule.run();
        assertThat(counter).as("what lock 0 guards").isEqualTo(counted);
        for (int i = 0; i < LOCKS; i++) {
            long line = LockLayout.lock(DESCRIPTORS, i);
            assertThat(words.load(line + LockLayout.LOCAL_TAIL))
                    .as("local tail")
                    .isZero();
            assertThat(words.load(line + LockLayout.REMOTE_TAIL))
                    .as("remote tail")
                    .isZero();
        }
        for (int number = 1; number <= 2 * DESCRIPTORS; number++) {
            long at = LockLayout.descriptor(number);
            assertThat(LockLayout.kind(words.load(at + LockLayout.STATE)))
                    .as("descriptor %s, owner %s; dead %s", number, words.load(at + LockLayout.OWNER), dead)
                    .isEqualTo(LockLayout.FREE);
            assertThat(words.load(at + LockLayout.OWNER)).as("owner").isZero();
        }
    }
}
