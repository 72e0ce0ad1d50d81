package dev.rackcall.lock;

import static dev.rackcall.lock.LockLayout.STATE;
import static dev.rackcall.lock.LockLayout.descriptor;
import static dev.rackcall.lock.LockLayout.generation;
import static dev.rackcall.lock.LockLayout.kind;

import dev.rackcall.lock.LockLayout.Sizes;
import java.util.Optional;

/**
 * One thread's access to the locks of a table. The session and its locks are confined to the thread that first uses a
 * lock. The thread may hold several locks.
 */
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
    /**
     * How many descriptors are in use or still in a queue. If this is not 0, the slow path is taken, which takes them
     * back.
     */
    private int inUse;
    /** How many of these are only in a queue. */
    private int formerPlaces;
    /**
     * Whether locking consists only of this thread's steps in the table: by the processor, without a finisher or
     * readers.
     */
    private boolean direct;

    private boolean closed;
    /** Also set by the finisher. */
    private volatile boolean lost;
    /** The first failure. */
    private Optional<Throwable> loss = Optional.empty();
    /** The first failure, until a call has thrown it. */
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

    /** From now on, the session does not wait for its unlocks. Called before it is used. */
    LockSession finishedBy(LockFinisher finisher, LaterWords later) {
        CohortQueue finishing = new CohortQueue(later, finisher.waiting(), true, budget);
        OpenUnlock unlock = new OpenUnlock(this, later, waiting, finisher, finishing);
        open = Optional.of(unlock);
        direct = false;
        finisher.add(unlock);
        return this;
    }

    /**
     * One of the table's locks, as this thread uses it. Each call returns a new object; unlock through the object that
     * locked.
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
     * The same lock for reading: any number of sessions may hold it for reading while no session holds it by {@link
     * #lock}. A reader queues behind waiting writers. A session cannot hold both.
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

    /** The owner that the table records, see {@link LockKeeper#recover}. */
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

    /** Whether {@link #requireUsable} would pass, and only the lock's queue must be checked. */
    boolean isDirect() {
        return direct && thread == Thread.currentThread();
    }

    /**
     * Whether, in addition, this thread holds no lock of the table and may enter that lock's queue with this descriptor
     * unchanged.
     */
    boolean isReady(LockDescriptor descriptor, long line) {
        return descriptor.readyFor == line && inUse == 0 && isDirect();
    }

    private void requireTable() {
        if (lost) {
            throwLoss();
            String message = "the session of this lock has lost its table; close it and make a new one"
                    + loss.map(why -> "; the first call that failed said: " + why.getMessage())
                            .orElse("");
            if (loss.isPresent() && loss.get() instanceof LockConnectionException why) {
                // The same kind each time: if the first exception was thrown while a lock was held, the unlock in the
                // finally block throws another.
                throw new LockConnectionException(message, why);
            }
            throw new IllegalStateException(message, loss.orElse(null));
        }
    }

    /** Throws a failure that the finisher has seen, once. */
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

    /** A step failed half-way: this session can do nothing more in the table. */
    void lose(Throwable why) {
        if (loss.isEmpty()) {
            loss = Optional.of(why);
        }
        // Set after the reason, so that a thread that sees this also sees the reason.
        lost = true;
        direct = false;
        open.ifPresent(OpenUnlock::forget);
    }

    /** As {@link #lose}, for the caller to throw. */
    LockConnectionException lost(LockConnectionException why) {
        lose(why);
        return why;
    }

    /** As {@link #lose}, by the finisher: the thread's next call throws the failure. */
    void loseUntold(LockConnectionException why) {
        untold = Optional.of(why);
        lose(why);
    }

    boolean isLost() {
        return lost;
    }

    /** Whether an unlock is open, which the finisher completes if this thread makes no further call. */
    boolean isLeaving() {
        return open.isPresent() && open.get().isOpen();
    }

    /**
     * Another thread has removed a waiting descriptor from its queue. It may have given all locks of this session to
     * others, so the session is lost.
     */
    IllegalStateException takenOut(ALock lock, LockDescriptor descriptor) {
        long now = words.load(descriptor(descriptor.number) + STATE);
        IllegalStateException why = new IllegalStateException(lock + " is not held: while it waited descriptor "
                + descriptor.number
                + " of owner " + owner + " was removed from the queue by another thread (state " + kind(now)
                + " of generation " + generation(now) + ", it waited in generation " + generation(descriptor.own)
                + "). The keeper was told that this owner is dead, or something else writes the table. What the session holds may be"
                + " another's already; close it and make a new one, with a new owner");
        lose(why);
        return why;
    }

    /** Takes the session over from the finisher, before any step in the table. {@link #settle} must follow. */
    void resume() {
        if (open.isPresent()) {
            open.get().resume();
            requireTable();
        }
    }

    /**
     * Completes an open unlock, after {@link #resume}.
     *
     * @throws LockConnectionException if that fails
     */
    void settle() {
        if (open.isPresent()) {
            open.get().settle();
        }
    }

    /**
     * The same for all sessions of this thread, before it waits for threads that may wait for it, and after each
     * acquisition.
     */
    void settleAll() {
        if (open.isPresent()) {
            open.get().settleAll();
        }
    }

    /**
     * Whether to enter the queue of this lock. A session that is still in that queue after an abandoned wait first
     * waits until that place is free. Otherwise each abandoned wait would take one more descriptor. A wait without a
     * limit enters at once and takes one more at most.
     *
     * @param ifFree whether to enter only an empty queue
     * @return false if the wait ended, or if {@code ifFree} and the queue is not empty
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
        Optional<LockDescriptor> former = waiting.isEndable() ? own.formerPlace(line) : Optional.empty();
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
    LockDescriptor claim(long line) {
        return claim(line, false);
    }

    /** Another descriptor for a lock for which one is claimed. */
    LockDescriptor claimBeside(long line) {
        return claim(line, true);
    }

    private LockDescriptor claim(long line, boolean beside) {
        // With a finisher, also claims one for the next lock, for use while the unlock of this one is open.
        LockDescriptor claimed = own.claim(line, beside, open.isPresent());
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

    /** How many descriptors of this session are still in queues after abandoned waits. */
    int formerPlaces() {
        return own.formerPlaces();
    }

    /** The descriptor has entered a queue, or is about to. */
    void use(LockDescriptor descriptor) {
        descriptor.used = true;
        inUse++;
    }

    /** The descriptor has left its queue: its next generation begins. */
    void freed(LockDescriptor descriptor) {
        descriptor.own = LockLayout.next(descriptor.own);
        descriptor.used = false;
        descriptor.readyFor = -1;
        inUse--;
    }

    /**
     * As {@link #freed}, for a descriptor without predecessor and successor: it can be used again unchanged for the
     * same lock.
     */
    void freedAlone(LockDescriptor descriptor) {
        descriptor.own = LockLayout.next(descriptor.own);
        descriptor.used = false;
        descriptor.readyFor = descriptor.previous == 0 && !descriptor.linked ? descriptor.line : -1;
        inUse--;
    }

    /** Records whether the lock was handed over. If not, the keeper has to do it. */
    void released(LockDescriptor descriptor, boolean released) {
        if (released) {
            freed(descriptor);
        } else {
            leaveToKeeper(descriptor);
        }
    }

    /** Begins to unlock without waiting; false if the unlock must be awaited. */
    boolean unlockLater(long line, LockDescriptor descriptor, int grant) {
        return open.isPresent() && open.get().begin(line, descriptor, grant);
    }

    /** The descriptor stays in its queue until its predecessor skips it. */
    void gone(LockDescriptor descriptor) {
        freed(descriptor);
        descriptor.linked = true;
        own.gone(descriptor);
        countFormerPlaces();
    }

    /** The keeper has to do the rest. */
    void leaveToKeeper(LockDescriptor descriptor) {
        own.leaveToKeeper(descriptor);
        // The descriptor now belongs to the keeper, so no lock may use it again.
        descriptor.readyFor = -1;
        inUse--;
    }

    /**
     * Completes an open unlock and returns the descriptors to the table. The keeper returns those that are still in a
     * queue after an abandoned wait. Called by the session's thread. Once that thread has ended, any thread may call
     * it, and owns the session from then on.
     *
     * @throws IllegalStateException if a lock is held
     * @throws LockConnectionException if the connection was lost while an unlock was open, and no call has reported it
     *     before
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
