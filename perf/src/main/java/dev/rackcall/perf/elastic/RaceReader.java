package dev.rackcall.perf.elastic;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/** Reads one server's {@link RaceTable} by one-sided READs. Confined to one thread. */
abstract class RaceReader {
    private static final int SECOND = RaceTable.BUCKET_BYTES;
    private static final int BLOCK = 2 * RaceTable.BUCKET_BYTES;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    /** Bytes of memory that lookups need. */
    static final int LANDING_BYTES = BLOCK + RaceTable.BLOCK_BYTES;

    private static final int POLLS = 100;
    private static final long PAUSE_NANOS = 20_000;

    private final MemorySegment landing;
    private int inFlight;

    /** @param landing where READs go */
    RaceReader(MemorySegment landing) {
        this.landing = landing;
    }

    /** Posts a READ of a part of the table into the landing memory. */
    abstract void read(long tableOffset, int landingOffset, int length);

    /** Returns how many READs have completed since the last call; never waits. */
    abstract int completed();

    /** The value of a key. */
    final long get(long key) {
        post(RaceTable.bucket(key, 0), 0, RaceTable.BUCKET_BYTES);
        post(RaceTable.bucket(key, 1), SECOND, RaceTable.BUCKET_BYTES);
        await();
        for (int slot = 0; slot < 2 * RaceTable.SLOTS; slot++) {
            long found = landing.get(LONG, (long) slot * Long.BYTES);
            if (RaceTable.fits(found, key)) {
                post(RaceTable.offset(found), BLOCK, RaceTable.BLOCK_BYTES);
                await();
                if (landing.get(LONG, BLOCK) == key) {
                    return landing.get(LONG, BLOCK + Long.BYTES);
                }
            }
        }
        throw new IllegalStateException("the table has no key " + key);
    }

    private void post(long tableOffset, int landingOffset, int length) {
        read(tableOffset, landingOffset, length);
        inFlight++;
    }

    private void await() {
        long start = System.nanoTime();
        int polls = 0;
        while (inFlight > 0) {
            int count = completed();
            inFlight -= count;
            if (count == 0 && ++polls > POLLS) {
                // Fifty workers wait, and the threads that work for them need the processors.
                LockSupport.parkNanos(PAUSE_NANOS);
            } else if (count == 0) {
                Thread.yield();
            }
            if (inFlight > 0 && System.nanoTime() - start > ClientSide.CALL_BOUND_NANOS) {
                throw new IllegalStateException("a READ has not completed within 10 s");
            }
        }
    }

    /** Reads over a queue pair, or over a virtual queue. */
    static final class OneSided extends RaceReader {
        private final MemoryRegion region;
        private final Predicate<WorkRequest> post;
        private final ToIntFunction<Completions> poll;
        private final Supplier<String> failure;
        private final long table;
        private final int key;
        private final WorkRequest request = WorkRequest.create(1, 0);
        private final Completions batch = Completions.create(4);

        /**
         * @param region where READs go
         * @param post returns false if there is no room
         * @param poll takes completions, of several readers if they share a completion queue
         * @param failure the rest of the message about a failed READ
         */
        OneSided(
                MemoryRegion region,
                Predicate<WorkRequest> post,
                ToIntFunction<Completions> poll,
                Supplier<String> failure,
                long table,
                int key) {
            super(region.memory());
            this.region = region;
            this.post = post;
            this.poll = poll;
            this.failure = failure;
            this.table = table;
            this.key = key;
        }

        @Override
        void read(long tableOffset, int landingOffset, int length) {
            request.read(table + tableOffset, key)
                    .from(region, landingOffset, length)
                    .signaled();
            if (!post.test(request)) {
                throw new IllegalStateException("the queue has no room for a READ");
            }
        }

        @Override
        int completed() {
            int count = poll.applyAsInt(batch);
            for (int i = 0; i < count; i++) {
                if (!batch.isSuccess(i)) {
                    throw new IllegalStateException("a READ ended with " + batch.status(i) + failure.get());
                }
            }
            return count;
        }
    }
}
