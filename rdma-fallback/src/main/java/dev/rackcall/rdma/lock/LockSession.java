package dev.rackcall.rdma.lock;

import static dev.rackcall.rdma.lock.LockLayout.FREE;
import static dev.rackcall.rdma.lock.LockLayout.LOCK;
import static dev.rackcall.rdma.lock.LockLayout.NOBODY;
import static dev.rackcall.rdma.lock.LockLayout.OWNER;
import static dev.rackcall.rdma.lock.LockLayout.STATE;
import static dev.rackcall.rdma.lock.LockLayout.descriptor;
import static dev.rackcall.rdma.lock.LockLayout.generation;
import static dev.rackcall.rdma.lock.LockLayout.kind;
import static dev.rackcall.rdma.lock.LockLayout.reference;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One thread's way to the locks of a table. Confined to the thread that first uses a lock of it, as are its locks; it may hold several of them. */
public final class LockSession implements AutoCloseable {
    /** A descriptor of this session. */
    static final class Descriptor {
        final int number;
        long own;
        /** The lock that it is used for. */
        long line;

        /** What was last written as its predecessor; -1 if that is not known. */
        long previous = -1;
        /** Whether somebody may have been written as its next. */
        boolean linked = true;

        /** The lock that it can be used for again as it is, while it is not in use; -1: none. */
        long readyFor = -1;

        boolean used;
        /** Of an {@link OpenUnlock}: still used, but its lock is not held any more. */
        boolean leaves;
        /** Given up in the queue: may be used again once whoever came before it has freed it. */
        boolean gone;

        Descriptor(int number) {
            this.number = number;
        }
    }

    private final LockWords words;
    private final long owner;
    private final int descriptors;
    private final int locks;
    private final CohortQueue queue;
    private final Waiting waiting;
    private final Optional<Readers> readers;
    private final int budget;
    private final List<Descriptor> own = new ArrayList<>();
    private Optional<OpenUnlock> open = Optional.empty();
    private Thread thread;
    /** How many descriptors are in use. */
    private int inUse;
    /** Whether there are but this thread's own steps in the table: by the processor, without a finisher, without readers. */
    private boolean direct;

    private boolean closed;
    /** Also set by the finisher. */
    private volatile boolean lost;
    /** Why, if that has not been said yet. */
    private Optional<LockConnectionException> loss = Optional.empty();

    LockSession(LockWords words, Waiting waiting, long owner, int budget, LockTable.Sizes sizes) {
        this.words = words;
        this.waiting = waiting;
        this.owner = owner;
        descriptors = sizes.descriptors();
        locks = sizes.locks();
        readers = sizes.readers() ? Optional.of(new Readers(words, waiting, descriptors)) : Optional.empty();
        this.budget = budget;
        direct = !words.isRemote() && readers.isEmpty();
        queue = new CohortQueue(words, waiting, words.isRemote(), budget, this::settleAll);
    }

    /** From now on it does not wait for its unlocks. To be called before it is used. */
    LockSession finishedBy(LockFinisher finisher, LaterWords later) {
        CohortQueue finishing = new CohortQueue(later, finisher.waiting(), true, budget);
        OpenUnlock unlock = new OpenUnlock(this, later, waiting, finisher, finishing);
        open = Optional.of(unlock);
        direct = false;
        finisher.add(unlock);
        return this;
    }

    /**
     * One of the table's locks, as this thread uses it.
     *
     * @throws IndexOutOfBoundsException if the table has no such lock
     */
    public ALock lock(int index) {
        if (index < 0 || index >= locks) {
            throw new IndexOutOfBoundsException("lock " + index + " of a table that has " + locks);
        }
        return new ALock(this, LockLayout.lock(descriptors, index), index);
    }

    /**
     * The same lock for reading: any number of sessions hold it so at a time, while nobody holds it by {@link #lock}. Who comes while somebody waits to hold it alone waits
     * behind him. A session cannot hold both.
     *
     * @throws IndexOutOfBoundsException if the table has no such lock
     * @throws UnsupportedOperationException if the table was not made with readers
     */
    public ALockReader readLock(int index) {
        return new ALockReader(
                this,
                lock(index),
                readers.orElseThrow(() -> new UnsupportedOperationException(
                        "this table's locks have no readers; make it by LockTable.createWithReaders")));
    }

    /** Who the table thinks the holder is, see {@link LockKeeper#recover}. */
    public long owner() {
        return owner;
    }

    LockWords words() {
        return words;
    }

    CohortQueue queue() {
        return queue;
    }

    Optional<Readers> readers() {
        return readers;
    }

    Waiting waiting() {
        return waiting;
    }

    void requireUsable() {
        Thread current = Thread.currentThread();
        if (thread != current) {
            requireFirst(current);
        }
        if (closed) {
            throw new IllegalStateException("the session of this lock is closed");
        }
        requireTable();
    }

    /** Whether {@link #requireUsable} has nothing to say, and nothing but a lock's queue to be looked at. */
    boolean isDirect() {
        return direct && thread == Thread.currentThread();
    }

    /** Whether, besides, this thread holds no lock of the table, and may enter the queue of the lock in this line with that descriptor as it is. */
    boolean isReady(Descriptor descriptor, long line) {
        return descriptor.readyFor == line && inUse == 0 && isDirect();
    }

    private void requireTable() {
        if (lost) {
            throwLoss();
            throw new IllegalStateException("the session of this lock has lost its table; close it and make a new one");
        }
    }

    /** What the finisher has seen and nobody was told yet. */
    private void throwLoss() {
        if (loss.isPresent()) {
            LockConnectionException first = loss.get();
            loss = Optional.empty();
            throw first;
        }
    }

    private void requireFirst(Thread current) {
        if (thread != null) {
            throw new IllegalMonitorStateException("a lock's session belongs to " + thread + ", not to " + current);
        }
        thread = current;
        open.ifPresent(OpenUnlock::belongToThisThread);
    }

    /** A step failed half-way: nothing more can be done with what this session has in the table. */
    void lose() {
        lost = true;
        direct = false;
        open.ifPresent(OpenUnlock::forget);
    }

    /** The same by the finisher: the thread is told by its next call. */
    void lose(LockConnectionException why) {
        loss = Optional.of(why);
        // After the reason: whoever sees this sees that.
        lose();
    }

    boolean isLost() {
        return lost;
    }

    /** Whether an unlock is open that this thread need not come back for. */
    boolean isLeaving() {
        return open.isPresent() && open.get().isOpen();
    }

    /**
     * While a descriptor waited somebody else has taken it out of its queue. Whoever did that may have given all that this session holds to others, so nothing more is done with it.
     */
    IllegalStateException takenOut(ALock lock, Descriptor descriptor) {
        long now = words.load(descriptor(descriptor.number) + STATE);
        lose();
        return new IllegalStateException(lock + " is not held: while it waited descriptor " + descriptor.number
                + " of owner " + owner + " was taken out of the queue by somebody else (state " + kind(now)
                + " of generation " + generation(now) + ", it waited in generation " + generation(descriptor.own)
                + "). The keeper was told that this owner is dead, or something else writes the table. What the session holds may be"
                + " another's already; close it and make a new one, with an owner that nobody has had");
    }

    /** Before anything is done in the table: from now on the finisher keeps away. An unlock that is open is seen to by {@link #settle}, which must follow. */
    void resume() {
        if (open.isPresent()) {
            open.get().resume();
            requireTable();
        }
    }

    /**
     * Ends an unlock that is open, after {@link #resume}.
     *
     * @throws LockConnectionException if that fails
     */
    void settle() {
        if (open.isPresent()) {
            open.get().settle();
        }
    }

    /** The same for all sessions of this thread: before it waits for others, who may wait for it, and after each acquisition. */
    void settleAll() {
        if (open.isPresent()) {
            open.get().settleAll();
        }
    }

    /**
     * A free descriptor for the lock in this line.
     *
     * @throws IllegalMonitorStateException if this session holds that lock
     */
    Descriptor claim(long line) {
        return claim(line, false);
    }

    /** Another one, for somebody who has claimed one for this lock. */
    Descriptor claimBeside(long line) {
        return claim(line, true);
    }

    private Descriptor claim(long line, boolean beside) {
        Descriptor free = null;
        for (int i = 0; i < own.size(); i++) {
            Descriptor candidate = own.get(i);
            if (candidate.used && candidate.line == line && !beside && !candidate.leaves) {
                throw new IllegalMonitorStateException("this session holds that lock already, and it is not reentrant");
            }
            if (free == null && !candidate.used && (!candidate.gone || isFreed(candidate))) {
                free = candidate;
            }
        }
        return take(free == null ? claimNew() : free, line);
    }

    /** Whether there is a descriptor for the next lock. */
    boolean hasSpare() {
        for (int i = 0; i < own.size(); i++) {
            if (!own.get(i).used && !own.get(i).gone) {
                return true;
            }
        }
        return false;
    }

    private Descriptor claimNew() {
        Descriptor claimed = findNew()
                .orElseThrow(() -> new IllegalStateException("all " + descriptors
                        + " descriptors of this cohort are in use; make the table with more, or close sessions"));
        if (open.isPresent() && own.size() == 1) {
            // For the next lock, while the unlock of this one is open.
            findNew();
        }
        return claimed;
    }

    private Optional<Descriptor> findNew() {
        int first = words.isRemote() ? descriptors + 1 : 1;
        for (int number = first; number < first + descriptors; number++) {
            // A look costs local threads less; by RDMA it costs what the attempt costs.
            boolean free = words.isRemote() || words.load(descriptor(number) + OWNER) == 0;
            if (free && words.compareAndSwap(descriptor(number) + OWNER, 0, owner) == 0) {
                Descriptor found = new Descriptor(number);
                words.introduce(descriptor(number));
                found.own = reference(generation(words.load(descriptor(number) + STATE)), number);
                own.add(found);
                return Optional.of(found);
            }
        }
        return Optional.empty();
    }

    private boolean isFreed(Descriptor descriptor) {
        return kind(words.load(descriptor(descriptor.number) + STATE)) == FREE;
    }

    private Descriptor take(Descriptor descriptor, long line) {
        if (descriptor.line != line) {
            words.store(descriptor(descriptor.number) + LOCK, line);
            descriptor.line = line;
        }
        descriptor.gone = false;
        descriptor.readyFor = -1;
        use(descriptor);
        return descriptor;
    }

    /** It has entered a queue, or is about to. */
    void use(Descriptor descriptor) {
        descriptor.used = true;
        inUse++;
    }

    /** The descriptor has left its queue: its next generation begins. */
    void freed(Descriptor descriptor) {
        descriptor.own = LockLayout.next(descriptor.own);
        descriptor.used = false;
        descriptor.readyFor = -1;
        inUse--;
    }

    /** As {@link #freed}, of one that nobody came behind and that came behind nobody: it can be used again for the same lock as it is. */
    void freedAlone(Descriptor descriptor) {
        descriptor.own = LockLayout.next(descriptor.own);
        descriptor.used = false;
        descriptor.readyFor = descriptor.previous == 0 && !descriptor.linked ? descriptor.line : -1;
        inUse--;
    }

    /** The lock was handed over, or if not the keeper has to do that. */
    void released(Descriptor descriptor, boolean released) {
        if (released) {
            freed(descriptor);
        } else {
            leaveToKeeper(descriptor);
        }
    }

    /** Unlocks without waiting; false if that is to be waited for. */
    boolean unlockLater(long line, Descriptor descriptor, int grant) {
        return open.isPresent() && open.get().begin(line, descriptor, grant);
    }

    /** The descriptor stays in its queue until its predecessor skips it. */
    void gone(Descriptor descriptor) {
        freed(descriptor);
        descriptor.gone = true;
        descriptor.linked = true;
    }

    /** The keeper has to do the rest. */
    void leaveToKeeper(Descriptor descriptor) {
        words.store(descriptor(descriptor.number) + OWNER, NOBODY);
        words.flush();
        own.remove(descriptor);
        // The lock whose last descriptor it was must not go on with it: it is another's from now on.
        descriptor.readyFor = -1;
        inUse--;
    }

    /**
     * Ends an unlock that is open, and gives the descriptors back. What is still in a queue, because its waiter gave up, the keeper gives back later.
     *
     * @throws IllegalStateException if a lock is held
     * @throws LockConnectionException if the connection was lost while an unlock was open, and no call has said so before
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        if (!lost && thread != null) {
            requireUsable();
        }
        open.ifPresent(OpenUnlock::resume);
        if (lost) {
            closed = true;
            throwLoss();
            return;
        }
        settle();
        for (Descriptor descriptor : own) {
            if (descriptor.used) {
                throw new IllegalStateException("a lock of this session is held; unlock it before closing");
            }
        }
        closed = true;
        direct = false;
        open.ifPresent(OpenUnlock::forget);
        for (Descriptor descriptor : own) {
            boolean free = !descriptor.gone || isFreed(descriptor);
            words.store(descriptor(descriptor.number) + OWNER, free ? 0 : NOBODY);
        }
        words.flush();
    }
}
