package dev.rackcall.lock;

import dev.rackcall.lock.Schedule.Mortal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * Words that behave as badly as hardware may, one step of a schedule each:
 *
 * <ul>
 * <li>A processor's stores wait in its store buffer, and arrive even if the thread dies.
 * <li>A device's atomics read and write in two steps, atomic only among themselves, and complete even if the thread
 * dies.
 * <li>A READ of a line is not of one moment.
 * <li>Requests that are not posted are lost with the thread.
 * <li>A ring arrives at any later time. A request that is not awaited takes effect at any later time, or not at all if
 * the thread dies.
 * </ul>
 */
final class ScheduledWords implements LaterWords {
    private record Store(long offset, long value) {}

    private record Swap(long offset, long expected, long desired) {}

    private record Ring(int bell, long value) {}

    /** The device of the host where the table lies, and those of the waiters. */
    static final class Nic {
        private final long[] bells;
        private final List<Ring> underWay = new ArrayList<>();
        private final List<ScheduledWords> senders = new ArrayList<>();
        private boolean busy;

        /** @param bells their numbers begin with 1 */
        Nic(int bells) {
            this.bells = new long[bells + 1];
        }

        private void deliver(Random random) {
            while (!underWay.isEmpty() && random.nextInt(4) == 0) {
                Ring ring = underWay.remove(random.nextInt(underWay.size()));
                bells[ring.bell()] = ring.value();
            }
            for (ScheduledWords sender : senders) {
                if (sender.isSending() && random.nextInt(4) == 0) {
                    sender.sendOne();
                }
            }
        }
    }

    private final LockWords memory;
    private final Schedule schedule;
    private final Mortal mortal;
    private final Nic nic;
    private final boolean remote;
    private final Deque<Store> stores = new ArrayDeque<>();
    private final long[] line = new long[MOST_LINES * LockLayout.LINE / Long.BYTES];
    private final int bell;
    private long lineAt;
    /** Sent before the request that is not awaited, which is the last. */
    private final Deque<Store> sent = new ArrayDeque<>();

    private Optional<Swap> later = Optional.empty();
    /** Whether the device has read for it and not written yet. */
    private boolean halfDone;

    private long found;
    private boolean answered;

    /** @param bell its number at the device, 0 for none */
    ScheduledWords(LockWords memory, Schedule schedule, Mortal mortal, Nic nic, boolean remote, int bell) {
        this.bell = bell;
        this.memory = memory;
        this.schedule = schedule;
        this.mortal = mortal;
        this.nic = nic;
        this.remote = remote;
        nic.senders.add(this);
    }

    private boolean isSending() {
        return later.isPresent();
    }

    /** Half of an atomic, or a store. */
    private void sendOne() {
        Swap swap = later.orElseThrow();
        if (!sent.isEmpty()) {
            Store store = sent.removeFirst();
            memory.store(store.offset(), store.value());
        } else if (halfDone) {
            if (found == swap.expected()) {
                memory.store(swap.offset(), swap.desired());
            }
            nic.busy = false;
            halfDone = false;
            later = Optional.empty();
        } else if (!nic.busy) {
            nic.busy = true;
            halfDone = true;
            found = memory.load(swap.offset());
        }
    }

    private void step() {
        if (!remote) {
            while (!stores.isEmpty() && schedule.random().nextBoolean()) {
                drainOne();
            }
        }
        nic.deliver(schedule.random());
        schedule.step(mortal);
    }

    /** The thread is dead; the stores in its processor's buffer will arrive. */
    void die() {
        while (!remote && !stores.isEmpty()) {
            drainOne();
        }
        // The device completes what it has begun. Some of the rest arrives before the queue pair is closed.
        while (halfDone || (isSending() && !nic.busy && schedule.random().nextInt(3) != 0)) {
            sendOne();
        }
        later = Optional.empty();
    }

    private void drainOne() {
        Store store = stores.removeFirst();
        memory.store(store.offset(), store.value());
    }

    private void drain() {
        while (isSending()) {
            step();
        }
        while (!stores.isEmpty()) {
            if (remote) {
                step();
            }
            drainOne();
        }
    }

    private long own(long offset) {
        long value = memory.load(offset);
        for (Store store : stores) {
            value = store.offset() == offset ? store.value() : value;
        }
        return value;
    }

    @Override
    public long load(long offset) {
        if (remote) {
            drain();
        }
        step();
        return own(offset);
    }

    @Override
    public void store(long offset, long value) {
        step();
        stores.addLast(new Store(offset, value));
    }

    @Override
    public void publish(long offset, long value) {
        store(offset, value);
        if (!remote) {
            drain();
        }
    }

    @Override
    public long compareAndSwap(long offset, long expected, long desired) {
        drain();
        step();
        drain();
        if (!remote) {
            return memory.compareAndSwap(offset, expected, desired);
        }
        while (nic.busy) {
            step();
        }
        nic.busy = true;
        long old = memory.load(offset);
        try {
            step();
        } finally {
            if (old == expected) {
                memory.store(offset, desired);
            }
            nic.busy = false;
        }
        return old;
    }

    @Override
    public void swapLater(long offset, long expected, long desired) {
        step();
        sent.addAll(stores);
        stores.clear();
        later = Optional.of(new Swap(offset, expected, desired));
        answered = false;
    }

    @Override
    public boolean isAnswered() {
        step();
        answered |= !isSending() && schedule.random().nextBoolean();
        return answered;
    }

    @Override
    public long answer() {
        while (isSending()) {
            step();
        }
        return found;
    }

    @Override
    public long compareAndSwapAndLook(long offset, long expected, long desired, long at) {
        long seen = compareAndSwap(offset, expected, desired);
        look(at);
        return seen;
    }

    @Override
    public long grant(long descriptor, long waits, long granted, long ring) {
        look(descriptor);
        long seen = compareAndSwap(descriptor + LockLayout.STATE, waits, granted);
        if (remote && seen == waits && seen(descriptor + LockLayout.BELL) != 0) {
            step();
            nic.underWay.add(new Ring((int) seen(descriptor + LockLayout.BELL), ring));
        }
        return seen;
    }

    @Override
    public void introduce(long descriptor) {
        if (remote) {
            store(descriptor + LockLayout.BELL, bell);
        }
    }

    @Override
    public boolean hasBell() {
        return bell != 0;
    }

    @Override
    public long rung() {
        step();
        return nic.bells[bell];
    }

    @Override
    public void look(long at) {
        if (remote) {
            drain();
            lineAt = at;
            for (int i = 0; i < LockLayout.LINE / Long.BYTES; i++) {
                step();
                line[i] = memory.load(at + (long) Long.BYTES * i);
            }
        }
    }

    @Override
    public void look(long at, int lines) {
        if (remote) {
            drain();
            lineAt = at;
            for (int i = 0; i < lines * LockLayout.LINE / Long.BYTES; i++) {
                // State and lock of a descriptor are not of one moment; more steps would only take time.
                if (i % 4 == 0) {
                    step();
                }
                line[i] = memory.load(at + (long) Long.BYTES * i);
            }
        }
    }

    @Override
    public long seen(long offset) {
        if (remote) {
            return line[(int) (offset - lineAt) / Long.BYTES];
        }
        step();
        return own(offset);
    }

    @Override
    public void flush() {
        if (remote) {
            drain();
        }
    }

    /** The thread has ended normally. */
    void end() {
        drain();
    }

    @Override
    public boolean isRemote() {
        return remote;
    }
}
