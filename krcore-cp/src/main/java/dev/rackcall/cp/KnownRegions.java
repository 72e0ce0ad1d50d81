package dev.rackcall.cp;

import dev.rackcall.cp.TableReader.StaleTableException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * What one life of a peer has said of its memory regions, believed for a while. What is used is asked for again before it expires, in the background, so
 * that only the first request to a region waits; of many who need the same answer one asks. Any thread may use it.
 */
final class KnownRegions {
    /** Regions that are known at a time; one more takes the place of the oldest. */
    private static final int KEPT = 16;

    /** The Optional is kept, too: requests are checked without making objects. */
    private record Known(int key, Optional<RegionRecord> region, long since) {}

    private final RegionSource source;
    private final long validNanos;
    private final LongSupplier clock;
    private final Map<Integer, FutureTask<Optional<RegionRecord>>> asked = new ConcurrentHashMap<>();
    /** Replaced, never changed. */
    private volatile Known[] known = {};
    /** How often it was cleared; what was asked for before is not believed after. */
    private volatile int doubts;

    /** @param clock nanoseconds from whenever */
    KnownRegions(RegionSource source, long validNanos, LongSupplier clock) {
        this.clock = clock;
        this.source = source;
        this.validNanos = validNanos;
    }

    /**
     * What is known of the region of this key; asks nobody that one would have to wait for.
     *
     * @return empty if nothing is, which does not mean that there is no such region
     */
    Optional<RegionRecord> known(int key) {
        long now = clock.getAsLong();
        for (Known candidate : known) {
            long age = now - candidate.since();
            if (candidate.key() == key && age < validNanos) {
                if (age > validNanos / 2) {
                    refresh(key);
                }
                return candidate.region();
            }
        }
        return Optional.empty();
    }

    private void refresh(int key) {
        if (asked.containsKey(key)) {
            // Requests go on coming meanwhile: not a task for each.
            return;
        }
        FutureTask<Optional<RegionRecord>> mine = new FutureTask<>(() -> read(key));
        if (asked.putIfAbsent(key, mine) == null) {
            try {
                // If it fails, whoever needs it when it has expired asks again, and hears why.
                Thread.ofVirtual().name("rackcall-region").start(() -> run(key, mine));
            } catch (RuntimeException | Error e) {
                asked.remove(key, mine);
                // Whoever waits for it already asks by himself.
                mine.cancel(false);
                throw e;
            }
        }
    }

    private void run(int key, FutureTask<Optional<RegionRecord>> mine) {
        try {
            mine.run();
        } finally {
            asked.remove(key, mine);
        }
    }

    /**
     * What the peer says about the region of this key, at most as old as the expiry.
     *
     * @return empty if it has no such region
     */
    Optional<RegionRecord> find(int key) throws StaleTableException {
        Optional<RegionRecord> current = known(key);
        return current.isPresent() ? current : ask(key);
    }

    private Optional<RegionRecord> ask(int key) throws StaleTableException {
        FutureTask<Optional<RegionRecord>> mine = new FutureTask<>(() -> read(key));
        FutureTask<Optional<RegionRecord>> others = asked.putIfAbsent(key, mine);
        if (others == null) {
            run(key, mine);
            return result(mine);
        }
        Optional<RegionRecord> theirs = result(others);
        // A region may have been made since they asked for it in vain.
        return theirs.isPresent() ? theirs : read(key);
    }

    private Optional<RegionRecord> read(int key) throws StaleTableException {
        int of = doubts;
        long now = clock.getAsLong();
        Optional<RegionRecord> found = source.find(key);
        settle(key, found, now, of);
        return found;
    }

    private static Optional<RegionRecord> result(FutureTask<Optional<RegionRecord>> done) throws StaleTableException {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return done.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (CancellationException e) {
                    return Optional.empty();
                } catch (ExecutionException e) {
                    throw failure(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static StaleTableException failure(Throwable cause) {
        return switch (cause) {
            case StaleTableException stale -> stale;
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IllegalStateException("nothing else is thrown there", cause);
        };
    }

    private synchronized void settle(int key, Optional<RegionRecord> found, long since, int of) {
        if (of != doubts) {
            // Doubted while it was asked for.
            return;
        }
        Stream<Known> others = Stream.of(known).filter(each -> each.key() != key);
        Stream<Known> fresh = found.stream().map(region -> new Known(key, found, since));
        known = Stream.concat(fresh, others).limit(KEPT).toArray(Known[]::new);
    }

    /** Nothing is known any more. */
    synchronized void clear() {
        doubts++;
        known = new Known[0];
    }
}
