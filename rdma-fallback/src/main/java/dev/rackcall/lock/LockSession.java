package dev.rackcall.lock;

import static dev.rackcall.lock.LockLayout.STATE;
import static dev.rackcall.lock.LockLayout.descriptor;
import static dev.rackcall.lock.LockLayout.generation;
import static dev.rackcall.lock.LockLayout.kind;

import dev.rackcall.lock.LockLayout.Sizes;
import java.util.Optional;

/** One thread's way to the locks of a table. Confined to the thread that first uses a lock of it, as are its locks; it may hold several of them. */
public final class LockSession implements AutoCloseable {
    private final LockWords words;
    private final long owner;
    private final int descriptors;
    private final int locks;
    private final CohortQueue queue;
    private final LockWait waiting;
    private final Optional<Readers> readers;
    private final int budget;
    private final SessionDescriptors own;
    private Optional<OpenUnlock> open = Optional.empty();
    private Thread thread;
    /** How many descriptors are in use, or still in a queue: then the quickest way, which looks at nothing else, is not taken, so that they are taken back. */
    private int inUse;
    /** How many of these are in a queue only. */
    private int formerPlaces;
    /** Whether there are but this thread's own steps in the table: by the processor, without a finisher, without readers. */
    private boolean direct;

    private boolean closed;
    /** Also set by the finisher. */
    private volatile boolean lost;
    /** Why, from the first who noticed. */
    private Optional<Throwable> loss = Optional.empty();
    /** The same, if nobody was told yet. */
    private Optional<LockConnectionException> untold = Optional.empty();

    LockSession(LockWords words, LockWait waiting, long owner, int budget, Sizes sizes) {
        this.words = words;
        this.waiting = waiting;
        this.owner = owner;
        descriptors = sizes.descriptors();
        locks = sizes.locks();
        readers = sizes.readers() ? Optional.of(new Readers(words, waiting, descriptors)) : Optional.empty();
        this.budget = budget;
        own = new SessionDescriptors(words, owner, descriptors);
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
     * One of the table's locks, as this thread uses it: a new object each time, which is to be kept, since what was locked through it is unlocked through it.
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

    LockWait waiting() {
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
            String message = "the session of this lock has lost its table; close it and make a new one"
                    + loss.map(why -> "; the first call that failed said: " + why.getMessage())
                            .orElse("");
            if (loss.isPresent() && loss.get() instanceof LockConnectionException why) {
                // Of the same kind each time: where the first was thrown while a lock was held, that of
                // the unlock in the finally block comes out.
                throw new LockConnectionException(message, why);
            }
            throw new IllegalStateException(message, loss.orElse(null));
        }
    }

    /** What the finisher has seen and nobody was told yet. */
    private void throwLoss() {
        if (untold.isPresent()) {
            LockConnectionException first = untold.get();
            untold = Optional.empty();
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
    void lose(Throwable why) {
        if (loss.isEmpty()) {
            loss = Optional.of(why);
        }
        // After the reason: whoever sees this sees that.
        lost = true;
        direct = false;
        open.ifPresent(OpenUnlock::forget);
    }

    /** As {@link #lose}, for the caller to throw. */
    LockConnectionException lost(LockConnectionException why) {
        lose(why);
        return why;
    }

    /** The same by the finisher: the thread is told by its next call. */
    void loseUntold(LockConnectionException why) {
        untold = Optional.of(why);
        lose(why);
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
        IllegalStateException why = new IllegalStateException(lock + " is not held: while it waited descriptor "
                + descriptor.number
                + " of owner " + owner + " was taken out of the queue by somebody else (state " + kind(now)
                + " of generation " + generation(now) + ", it waited in generation " + generation(descriptor.own)
                + "). The keeper was told that this owner is dead, or something else writes the table. What the session holds may be"
                + " another's already; close it and make a new one, with an owner that nobody has had");
        lose(why);
        return why;
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
     * Whether it makes sense to enter the queue of the lock in this line. Where this session stands in it already, since it has given up a wait there, it enters anew only when that place is
     * gone: otherwise each wait that is given up would take one more descriptor from all others. Who waits without an end takes one more at most, and does not lose the time.
     *
     * @param ifFree whether it is to be entered only if nobody is there
     * @return false if it is time to give up, or, if {@code ifFree}, if somebody is there
     * @throws IllegalMonitorStateException if this session holds that lock
     */
    boolean mayEnter(long line, boolean ifFree) {
        if (own.formerPlaces() == 0) {
            return true;
        }
        own.requireNotHeld(line);
        if (ifFree) {
            return queue.isFree(line);
        }
        Optional<Descriptor> former = waiting.isEndable() ? own.formerPlace(line) : Optional.empty();
        if (former.isPresent()) {
            if (!queue.awaitFreed(former.get())) {
                return false;
            }
            own.takeBack(former.get());
            countFormerPlaces();
        }
        return true;
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
        // One more for the next lock, while the unlock of this one is open.
        Descriptor claimed = own.claim(line, beside, open.isPresent());
        countFormerPlaces();
        use(claimed);
        return claimed;
    }

    private void countFormerPlaces() {
        inUse += own.formerPlaces() - formerPlaces;
        formerPlaces = own.formerPlaces();
    }

    /** Whether there is a descriptor for the next lock. */
    boolean hasSpare() {
        return own.hasSpare();
    }

    /** How many descriptors of this session are still in queues, though their waits were given up. */
    int formerPlaces() {
        return own.formerPlaces();
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
        descriptor.linked = true;
        own.gone(descriptor);
        countFormerPlaces();
    }

    /** The keeper has to do the rest. */
    void leaveToKeeper(Descriptor descriptor) {
        own.leaveToKeeper(descriptor);
        // The lock whose last descriptor it was must not go on with it: it is another's from now on.
        descriptor.readyFor = -1;
        inUse--;
    }

    /**
     * Ends an unlock that is open, and gives the descriptors back. What is still in a queue, because its waiter gave up, the keeper gives back later. By the session's thread, or once that
     * has ended by any other, which the session belongs to from then on.
     *
     * @throws IllegalStateException if a lock is held
     * @throws LockConnectionException if the connection was lost while an unlock was open, and no call has said so before
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        if (thread != null && !thread.isAlive()) {
            thread = null;
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
        if (own.isAnyUsed()) {
            throw new IllegalStateException("a lock of this session is held; unlock it before closing");
        }
        closed = true;
        direct = false;
        open.ifPresent(OpenUnlock::forget);
        own.giveBack();
    }
}
