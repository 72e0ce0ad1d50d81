package dev.rackcall.rpc.shm.client;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shared results of one connection that its callers have not released. Each counts once, whatever it holds and
 * however often it is released. Warns when there are many, long before they fill the reply arena, and names a place
 * where one of them arrived. Does not count the elements of streams, which share one scope. Thread-safe.
 *
 * <p>A result counts by the page that holds its first object, because pages belong to one result at a time. Only the
 * server knows all pages of a large result: one that is released by an object on another page counts until the server
 * uses the page again.
 */
final class UnreleasedResults {
    /** Results at the first warning; each further warning comes at twice as many. */
    static final int FIRST_WARNING = 1_024;
    /** Sampling interval: one result in this many has its stack kept. */
    private static final int SAMPLED = 64;

    private static final int PAGES_PER_CHUNK = 1_024;
    /** Marks a page that holds a counted result, beside the page's generation. */
    private static final int COUNTED = 1 << Ref.GENERATION_BITS;

    private static final Logger LOG = LoggerFactory.getLogger(UnreleasedResults.class);

    private final String channel;
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicInteger nextWarning = new AtomicInteger(FIRST_WARNING);
    /** By page of the reply arena; a chunk is null until it holds a result. */
    private final AtomicReferenceArray<AtomicIntegerArray> chunks;
    /** Where sampled results arrived, by page. */
    private final Map<Long, Throwable> samples = new ConcurrentHashMap<>();

    /** @param arenaBytes size of the reply arena */
    UnreleasedResults(String channel, long arenaBytes) {
        this.channel = channel;
        this.chunks = new AtomicReferenceArray<>(Math.toIntExact(arenaBytes / Arena.PAGE_BYTES / PAGES_PER_CHUNK + 1));
    }

    /** A result of that method, whose first object is at {@code ref}, has arrived on the calling thread. */
    void received(long ref, String method) {
        long page = page(ref);
        int before = chunk(page).getAndSet((int) (page % PAGES_PER_CHUNK), COUNTED | Ref.generation(ref));
        if (before != 0) {
            // The page's former result was released by an object on another page, so this one takes its place.
            samples.remove(page);
            return;
        }
        int now = count.incrementAndGet();
        if (now % SAMPLED == 0) {
            samples.put(page, new Throwable("a result of " + method + " that was not released was received here"));
        }
        int warning = nextWarning.get();
        if (now >= warning && nextWarning.compareAndSet(warning, 2 * warning)) {
            LOG.warn(
                    "channel {}: {} shared results were not released and fill the server's reply arena; use try-with-resources"
                            + " (Releasable), or call RpcChannel.release, when a result is no longer needed. One of them:",
                    channel,
                    now,
                    samples.values().stream().findAny().orElse(null));
        }
    }

    /** The result that holds the object at {@code ref} is released, perhaps not for the first time. */
    void released(long ref) {
        long page = page(ref);
        AtomicIntegerArray chunk = chunks.get((int) (page / PAGES_PER_CHUNK));
        if (chunk != null && chunk.compareAndSet((int) (page % PAGES_PER_CHUNK), COUNTED | Ref.generation(ref), 0)) {
            count.decrementAndGet();
            if (!samples.isEmpty()) {
                samples.remove(page);
            }
        }
    }

    boolean isEmpty() {
        return count.get() == 0;
    }

    /** Objects lie in the arena: their Refs were followed. */
    private static long page(long ref) {
        return Ref.offset(ref) / Arena.PAGE_BYTES;
    }

    private AtomicIntegerArray chunk(long page) {
        int index = (int) (page / PAGES_PER_CHUNK);
        AtomicIntegerArray chunk = chunks.get(index);
        if (chunk == null) {
            chunks.compareAndSet(index, null, new AtomicIntegerArray(PAGES_PER_CHUNK));
            chunk = chunks.get(index);
        }
        return chunk;
    }
}
