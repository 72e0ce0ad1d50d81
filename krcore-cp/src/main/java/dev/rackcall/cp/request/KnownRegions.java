package dev.rackcall.cp.request;

import dev.rackcall.cp.table.NamedRegion;
import dev.rackcall.cp.table.RegionRecord;
import dev.rackcall.cp.table.TableReader.StaleTableException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.LongSupplier;

/**
 * Region records of one life of a peer, valid for a while. Records in use are refreshed in the background before they
 * expire, so only the first request to a region waits. Concurrent requests for one record share a single lookup. Any
 * thread may use it.
 */
public final class KnownRegions {
    /** Looks up a peer's memory regions. */
    @FunctionalInterface
    public interface Source {
        /**
         * The peer's current record of the region with this remote key.
         *
         * @return empty if it has no such region
         * @throws StaleTableException if the peer is gone or has restarted
         */
        Optional<RegionRecord> find(int key) throws StaleTableException;
    }

    /** Maximum number of valid records; at the maximum a new one replaces the oldest. */
    static final int KEPT = 512;

    private static final int SPREAD = 0x9E3779B9;

    /** Keeps the Optional, so that checks do not allocate. */
    private record Known(int key, Optional<RegionRecord> region, long since) {}

    private final Source source;
    private final long validNanos;
    private final LongSupplier clock;
    private final Map<Integer, FutureTask<Optional<RegionRecord>>> asked = new ConcurrentHashMap<>();
    /** Open-addressed by key, half empty at least. Replaced, never changed. */
    private volatile Known[] known = new Known[2];
    /** How often it was cleared. Lookups that began before the last clear are discarded. */
    private volatile int doubts;

    /** @param clock nanoseconds from any origin */
    public KnownRegions(Source source, long validNanos, LongSupplier clock) {
        this.clock = clock;
        this.source = source;
        this.validNanos = validNanos;
    }

    /**
     * The valid record of this key, if there is one. Never waits.
     *
     * @return empty if there is no valid record; the region may exist nevertheless
     */
    Optional<RegionRecord> known(int key) {
        Known[] table = known;
        int at = place(key, table);
        while (table[at] != null && table[at].key() != key) {
            at = next(at, table);
        }
        if (table[at] == null) {
            return Optional.empty();
        }
        long age = clock.getAsLong() - table[at].since();
        if (age >= validNanos) {
            return Optional.empty();
        }
        if (age > validNanos / 2) {
            refresh(key, table);
        }
        return table[at].region();
    }

    private static int place(int key, Known[] table) {
        return (key * SPREAD) >>> (Integer.numberOfLeadingZeros(table.length) + 1);
    }

    private static int next(int at, Known[] table) {
        return (at + 1) & (table.length - 1);
    }

    /** @param seen the table in which the record is due for a refresh */
    private void refresh(int key, Known[] seen) {
        if (asked.containsKey(key)) {
            // Avoids a task for each request while a lookup runs.
            return;
        }
        FutureTask<Optional<RegionRecord>> mine = new FutureTask<>(() -> read(key));
        if (asked.putIfAbsent(key, mine) == null) {
            if (known != seen) {
                // Another lookup has just replaced the table: the next caller decides again.
                giveUp(key, mine);
                return;
            }
            try {
                // If it fails, the record expires; the next request looks it up again and gets the error.
                Thread.ofVirtual().name("rackcall-region").start(() -> run(key, mine));
            } catch (RuntimeException | Error e) {
                giveUp(key, mine);
                throw e;
            }
        }
    }

    private void giveUp(int key, FutureTask<Optional<RegionRecord>> mine) {
        asked.remove(key, mine);
        // A thread that waits for this lookup then does its own.
        mine.cancel(false);
    }

    private void run(int key, FutureTask<Optional<RegionRecord>> mine) {
        try {
            mine.run();
        } finally {
            asked.remove(key, mine);
        }
    }

    /**
     * The record of this key, no older than its validity.
     *
     * @return empty if the peer has no such region
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
        // The region may have been registered after that lookup.
        return theirs.isPresent() ? theirs : read(key);
    }

    private Optional<RegionRecord> read(int key) throws StaleTableException {
        int of = doubts;
        long now = clock.getAsLong();
        Optional<RegionRecord> found = source.find(key);
        settle(key, found, now, of);
        return found;
    }

    /**
     * A record that the peer's agent has just sent unasked, which spares a lookup. It displaces no other record, and
     * half of the places are for records that were looked up: a peer's tenant that sends many costs others no lookup.
     */
    public synchronized void introduced(NamedRegion sent) {
        long now = clock.getAsLong();
        if (current(sent.key(), now).size() < KEPT / 2) {
            settle(sent.key(), Optional.of(sent.region()), now, doubts);
        }
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
            // It was cleared during the lookup.
            return;
        }
        List<Known> kept = current(key, since);
        if (kept.size() == KEPT) {
            kept.remove(Collections.min(kept, Comparator.comparingLong(each -> each.since() - since)));
        }
        if (found.isPresent()) {
            kept.add(new Known(key, found, since));
        }
        known = table(kept);
    }

    /** The valid records of other keys than this one. */
    private List<Known> current(int otherThan, long now) {
        List<Known> kept = new ArrayList<>();
        for (Known each : known) {
            if (each != null && each.key() != otherThan && now - each.since() < validNanos) {
                kept.add(each);
            }
        }
        return kept;
    }

    private static Known[] table(List<Known> entries) {
        Known[] table = new Known[Math.max(2, Integer.highestOneBit(Math.max(1, entries.size())) * 4)];
        for (Known each : entries) {
            int at = place(each.key(), table);
            while (table[at] != null) {
                at = next(at, table);
            }
            table[at] = each;
        }
        return table;
    }

    /** Forgets all records. */
    public synchronized void clear() {
        doubts++;
        known = new Known[2];
    }
}
