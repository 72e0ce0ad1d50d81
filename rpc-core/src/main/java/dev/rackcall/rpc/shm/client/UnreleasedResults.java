package dev.rackcall.rpc.shm.client;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shared results of one connection that its callers have not released. Each counts once, whatever it holds. Warns
 * when there are many, long before they fill the reply arena, and names a place where one of them arrived. Does not
 * count the elements of streams, which share one scope; if callers release those, it warns later. Thread-safe.
 */
final class UnreleasedResults {
    /** Results at the first warning; each further warning comes at twice as many. */
    static final int FIRST_WARNING = 1_024;
    /** Sampling interval: one result in this many has its stack kept. */
    private static final int SAMPLED = 64;

    private static final Logger LOG = LoggerFactory.getLogger(UnreleasedResults.class);

    private final String channel;
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicInteger nextWarning = new AtomicInteger(FIRST_WARNING);
    /** Where sampled results arrived, by Ref. */
    private final Map<Long, Throwable> samples = new ConcurrentHashMap<>();

    UnreleasedResults(String channel) {
        this.channel = channel;
    }

    /** A result of that method has arrived on the calling thread. */
    void received(long ref, String method) {
        int now = count.incrementAndGet();
        if (now % SAMPLED == 0) {
            samples.put(ref, new Throwable("a result of " + method + " that was not released was received here"));
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

    void released(long ref) {
        // Callers may also release what was not counted: an element of a stream, or another object of a result.
        int left = count.updateAndGet(now -> Math.max(0, now - 1));
        if (samples.isEmpty()) {
            return;
        }
        if (left == 0) {
            samples.clear();
        } else {
            samples.remove(ref);
        }
    }
}
