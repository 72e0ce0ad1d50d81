package dev.rackcall.lock;

import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Optional;

/**
 * Reaches the words by a queue pair and a completion queue of its own. Confined to one thread at a time. Requests of a
 * queue pair take effect in order. So stores are collected and sent with the next awaited request, and answers come in
 * order, too.
 */
final class RdmaWords implements LaterWords {
    /** Requests that may be in the send queue. */
    static final int DEPTH = 32;

    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final long RESULT = (long) MOST_LINES * LockLayout.LINE;
    private static final long RESULT_LATER = RESULT + Long.BYTES;
    private static final long PATIENCE_NANOS = 30_000_000_000L;
    private static final int BATCH = 8;
    private static final int SPINS = 50;

    private final QueuePair queuePair;
    private final CompletionQueue completions;
    private final MemoryRegion scratch;
    private final long address;
    private final int key;
    private final Optional<LockBell> bell;
    private final LockPeers peers;
    private final MemorySegment bellWord;
    private final WorkRequest[] requests = new WorkRequest[BATCH];
    private final Completions batch = Completions.create(1);
    private int collected;
    private long number;
    private int unsignaled;
    /** Whether a compare-and-set is pending whose answer has not been fetched. */
    private boolean open;

    private long line;
    /** The offset of the last collected store. */
    private long lastStore;

    RdmaWords(RemoteTable table) {
        bell = table.bell();
        peers = table.peers();
        bellWord = bell.map(own -> own.region().memory().asSlice(own.offset(), Long.BYTES))
                .orElse(MemorySegment.NULL);
        queuePair = table.queuePair();
        completions = table.completions();
        scratch = table.scratch();
        address = table.address();
        key = table.key();
        for (int i = 0; i < BATCH; i++) {
            requests[i] = WorkRequest.create(1, Long.BYTES);
        }
    }

    @Override
    public long load(long offset) {
        return run(next().read(address + offset, key).from(scratch, RESULT, Long.BYTES));
    }

    @Override
    public void store(long offset, long value) {
        if (collected > 0 && offset == lastStore) {
            // No request lies in between, so this value replaces the last one.
            requests[collected - 1].inline(value);
            return;
        }
        next().write(address + offset, key).inline(value);
        lastStore = offset;
        // Two places are kept for awaited requests.
        if (++collected == BATCH - 2) {
            flush();
        }
    }

    @Override
    public void publish(long offset, long value) {
        store(offset, value);
    }

    @Override
    public long compareAndSwap(long offset, long expected, long desired) {
        return run(swapping(offset, expected, desired));
    }

    @Override
    public long compareAndSwapAndLook(long offset, long expected, long desired, long at) {
        swapping(offset, expected, desired);
        collected++;
        return run(reading(at, 1));
    }

    @Override
    public void swapLater(long offset, long expected, long desired) {
        if (unsignaled + collected >= DEPTH - BATCH) {
            // The next awaited request needs room, too.
            load(0);
        }
        next().compareAndSwap(address + offset, key, expected, desired)
                .from(scratch, RESULT_LATER, Long.BYTES)
                .id(++number)
                .signaled();
        collected++;
        open = true;
        post();
    }

    @Override
    public boolean isAnswered() {
        if (open && completions.poll(batch) > 0) {
            open = false;
            requireSuccess();
        }
        return !open;
    }

    @Override
    public long answer() {
        if (open) {
            await();
        }
        return scratch.memory().get(ValueLayout.JAVA_LONG, RESULT_LATER);
    }

    @Override
    public long grant(long descriptor, long waits, long granted, long ring) {
        // Read before the state is set: afterwards another thread may use the descriptor. If the answer is lost and the
        // device repeats the READ, the READ may return that thread's bell. A ring contains the descriptor's number and
        // generation: that thread ignores it, and the waiter detects its turn by itself.
        reading(descriptor, 1);
        collected++;
        long seen = run(swapping(descriptor + LockLayout.STATE, waits, granted));
        long bellAt = seen(descriptor + LockLayout.BELL);
        if (seen == waits && bellAt != 0) {
            long place = seen(descriptor + LockLayout.BELL_PLACE);
            peers.ring((int) (place >>> 32), bellAt, (int) place, ring);
        }
        return seen;
    }

    @Override
    public void introduce(long descriptor) {
        long bellAt = bell.map(own -> own.region().address() + own.offset()).orElse(0L);
        long place = bell.map(own -> (long) own.node() << 32
                        | Integer.toUnsignedLong(own.region().remoteKey()))
                .orElse(0L);
        store(descriptor + LockLayout.BELL_PLACE, place);
        store(descriptor + LockLayout.BELL, bellAt);
    }

    @Override
    public boolean hasBell() {
        return bell.isPresent();
    }

    @Override
    public long rung() {
        // A poll also lets the software device move incoming traffic. This queue pair has no request in flight.
        if (completions.poll(batch) != 0) {
            throw unreachable();
        }
        // Pairs with the ringer's WRITE, which the device places as a whole.
        return (long) WORD.getAcquire(bellWord, 0L);
    }

    @Override
    public void look(long at) {
        run(reading(at, 1));
    }

    @Override
    public void look(long at, int lines) {
        run(reading(at, lines));
    }

    private WorkRequest reading(long at, int lines) {
        line = at;
        return next().read(address + at, key).from(scratch, 0, lines * LockLayout.LINE);
    }

    private WorkRequest swapping(long offset, long expected, long desired) {
        return next().compareAndSwap(address + offset, key, expected, desired).from(scratch, RESULT, Long.BYTES);
    }

    @Override
    public long seen(long offset) {
        return scratch.memory().get(ValueLayout.JAVA_LONG, offset - line);
    }

    @Override
    public void flush() {
        if (collected > 0 && unsignaled + collected > DEPTH - BATCH) {
            collected--;
            run(requests[collected]);
        } else if (collected > 0) {
            post();
        }
    }

    @Override
    public boolean isRemote() {
        return true;
    }

    private WorkRequest next() {
        return requests[collected];
    }

    private long run(WorkRequest last) {
        last.id(++number).signaled();
        collected++;
        post();
        unsignaled = 0;
        if (open) {
            await();
        }
        await();
        return scratch.memory().get(ValueLayout.JAVA_LONG, RESULT);
    }

    /** Waits for the next answer. */
    private void await() {
        long start = System.nanoTime();
        int polls = 0;
        while (completions.poll(batch) == 0) {
            if (++polls < SPINS) {
                Thread.onSpinWait();
                continue;
            }
            // The device may need this processor.
            Thread.yield();
            if (System.nanoTime() - start > PATIENCE_NANOS) {
                throw new LockConnectionException(
                        "the lock table's device has not answered for 30 s; close the session and open another");
            }
        }
        open = false;
        requireSuccess();
    }

    private void requireSuccess() {
        if (!batch.isSuccess(0)) {
            throw unreachable();
        }
    }

    private LockConnectionException unreachable() {
        return new LockConnectionException("the lock table cannot be reached: a request ended with " + batch.status(0)
                + "; locks that were held or awaited count as dead until the keeper at the table's host recovers them");
    }

    private void post() {
        int count = collected;
        collected = 0;
        unsignaled += count;
        try {
            if (queuePair.postSend(requests, count) != count) {
                throw new LockConnectionException(
                        "the send queue of a lock's queue pair is full: it must have room for " + DEPTH
                                + ", for locks alone");
            }
        } catch (VerbsException e) {
            throw new LockConnectionException("the lock table cannot be reached: " + e.getMessage(), e);
        }
    }
}
