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

        boolean used;
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
    private final List<Descriptor> own = new ArrayList<>();
    private Thread thread;
    private boolean closed;
    private boolean lost;

    LockSession(LockWords words, Waiting waiting, long owner, int budget, LockTable.Sizes sizes) {
        this.words = words;
        this.waiting = waiting;
        this.owner = owner;
        descriptors = sizes.descriptors();
        locks = sizes.locks();
        readers = sizes.readers() ? Optional.of(new Readers(words, waiting, descriptors)) : Optional.empty();
        queue = new CohortQueue(words, waiting, words.isRemote(), budget);
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
        if (lost) {
            throw new IllegalStateException("the session of this lock has lost its table; close it and make a new one");
        }
    }

    private void requireFirst(Thread current) {
        if (thread != null) {
            throw new IllegalMonitorStateException("a lock's session belongs to " + thread + ", not to " + current);
        }
        thread = current;
    }

    /** A step failed half-way: nothing more can be done with what this session has in the table. */
    void lose() {
        lost = true;
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
            if (candidate.used && candidate.line == line && !beside) {
                throw new IllegalMonitorStateException("this session holds that lock already, and it is not reentrant");
            }
            if (free == null && !candidate.used && (!candidate.gone || isFreed(candidate))) {
                free = candidate;
            }
        }
        return take(free == null ? claimNew() : free, line);
    }

    private Descriptor claimNew() {
        int first = words.isRemote() ? descriptors + 1 : 1;
        for (int number = first; number < first + descriptors; number++) {
            // A look costs local threads less; by RDMA it costs what the attempt costs.
            boolean free = words.isRemote() || words.load(descriptor(number) + OWNER) == 0;
            if (free && words.compareAndSwap(descriptor(number) + OWNER, 0, owner) == 0) {
                Descriptor found = new Descriptor(number);
                words.introduce(descriptor(number));
                found.own = reference(generation(words.load(descriptor(number) + STATE)), number);
                own.add(found);
                return found;
            }
        }
        throw new IllegalStateException("all " + descriptors
                + " descriptors of this cohort are in use; make the table with more, or close sessions");
    }

    private boolean isFreed(Descriptor descriptor) {
        return kind(words.load(descriptor(descriptor.number) + STATE)) == FREE;
    }

    private Descriptor take(Descriptor descriptor, long line) {
        if (descriptor.line != line) {
            words.store(descriptor(descriptor.number) + LOCK, line);
            descriptor.line = line;
        }
        descriptor.used = true;
        descriptor.gone = false;
        return descriptor;
    }

    /** The descriptor has left its queue: its next generation begins. */
    void freed(Descriptor descriptor) {
        descriptor.own = reference(generation(descriptor.own) + 1, descriptor.number);
        descriptor.used = false;
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
    }

    /**
     * Gives the descriptors back. What is still in a queue, because its waiter gave up, the keeper gives back later.
     *
     * @throws IllegalStateException if a lock is held
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        if (lost) {
            closed = true;
            return;
        }
        if (thread != null) {
            requireUsable();
        }
        for (Descriptor descriptor : own) {
            if (descriptor.used) {
                throw new IllegalStateException("a lock of this session is held; unlock it before closing");
            }
        }
        closed = true;
        for (Descriptor descriptor : own) {
            boolean free = !descriptor.gone || isFreed(descriptor);
            words.store(descriptor(descriptor.number) + OWNER, free ? 0 : NOBODY);
        }
        words.flush();
    }
}
