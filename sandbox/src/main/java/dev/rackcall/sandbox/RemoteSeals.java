package dev.rackcall.sandbox;

import dev.rackcall.shm.Ref;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The sealed process's side of seals that a holder holds. It sends the holder requests to close and open pages. It
 * reads the ring, which only the holder writes, and the marks, which only the receiver writes. One thread at a time;
 * allocates nothing.
 */
final class RemoteSeals implements SealAuthority {
    /** Longest single sleep. Bounds the delay if the holder dies. */
    private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final long BOUND_NANOS = Duration.ofSeconds(5).toNanos();

    private final MemorySegment requests;
    private final MemorySegment answers;
    private final MemorySegment ring;
    private final MemorySegment marks;
    private final int capacity;
    private final long pageBytes;
    private final SealSession session;
    private final HolderTurns turns;
    private int lastRequest;
    /** The holder failed to answer once; this process does not wait for it again. */
    private boolean silent;

    RemoteSeals(
            MemorySegment requests, MemorySegment answers, MemorySegment marks, long pageBytes, SealSession session) {
        this.requests = requests;
        this.answers = answers;
        this.ring = answers.asSlice(HolderLayout.RING);
        this.marks = marks;
        this.capacity = SealRingLayout.capacityOf(ring);
        this.pageBytes = pageBytes;
        this.session = session;
        this.turns = new HolderTurns(requests, answers);
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public long seal(long[] refs, long[] bytes, int count) {
        if (count > HolderLayout.MAX_COUNT) {
            throw new SealException("a scope of " + count + " runs is too scattered to be sealed by a holder");
        }
        HolderLayout.request(requests, HolderLayout.SEAL, count);
        for (int i = 0; i < count; i++) {
            HolderLayout.word(requests, 2 * i, refs[i]);
            HolderLayout.word(requests, 2 * i + 1, bytes[i]);
        }
        return ask();
    }

    @Override
    public long renew(long seal) {
        HolderLayout.request(requests, HolderLayout.RENEW, 1);
        HolderLayout.word(requests, 0, seal);
        return ask();
    }

    @Override
    public int release(long[] seals, int count, int endState) {
        if (endState == SealRingLayout.REVOKED) {
            throw new SealException(
                    "a seal that a holder holds cannot be revoked; only the receiver can end it, by marking it done");
        }
        int calls = 0;
        for (int from = 0; from < count; from += HolderLayout.MAX_COUNT) {
            int some = Math.min(HolderLayout.MAX_COUNT, count - from);
            HolderLayout.request(requests, HolderLayout.RELEASE, some);
            for (int i = 0; i < some; i++) {
                HolderLayout.word(requests, i, seals[from + i]);
            }
            calls += (int) ask();
        }
        return calls;
    }

    private long ask() {
        if (silent) {
            throw silence();
        }
        int number = ++lastRequest;
        turns.publish(number);
        long deadline = System.nanoTime() + BOUND_NANOS;
        while (!turns.await(number - 1, SLEEP_NANOS) || HolderLayout.number(answers) != number) {
            if (deadline - System.nanoTime() <= 0 || session.hasEnded()) {
                silent = true;
                throw silence();
            }
        }
        if (HolderLayout.status(answers) != HolderLayout.DONE) {
            throw new SealException("the holder of the seals refused: " + HolderLayout.reason(answers));
        }
        return HolderLayout.value(answers);
    }

    private static SealException silence() {
        return new SealException("the holder of the seals is gone, or has not answered for " + BOUND_NANOS / 1_000_000
                + " ms, so this process can seal nothing any more: restart both");
    }

    @Override
    public boolean hasEnded() {
        // A holder that only fails to answer keeps the pages closed.
        return session.hasEnded();
    }

    // ---- the ring, which only the holder writes

    @Override
    public boolean isHeld(long seal) {
        int index = SealRingLayout.index(seal);
        return index >= 0
                && index < capacity
                && SealRingLayout.state(SealRingLayout.word(ring, index)) == SealRingLayout.SEALED
                && SealRingLayout.sequenceOf(SealRingLayout.word(ring, index)) == SealRingLayout.sequence(seal);
    }

    @Override
    public boolean isDone(long seal) {
        return isHeld(seal) && SealRingLayout.mark(marks, SealRingLayout.index(seal)) == SealRingLayout.sequence(seal);
    }

    @Override
    public long pagesOf(long seal) {
        int index = SealRingLayout.index(seal);
        long bytes = 0;
        for (int i = 0; i < runsOf(index); i++) {
            bytes += SealRingLayout.bytes(ring, (index + i) % capacity);
        }
        return bytes / pageBytes;
    }

    private int runsOf(int index) {
        return SealRingLayout.runsLeft(SealRingLayout.word(ring, index));
    }

    @Override
    public boolean holds(int index, long offset) {
        for (int i = 0; i < runsOf(index); i++) {
            int at = (index + i) % capacity;
            long into = offset - Ref.offset(SealRingLayout.run(ring, at));
            if (into >= 0 && into < SealRingLayout.bytes(ring, at)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() {
        session.close();
    }
}
