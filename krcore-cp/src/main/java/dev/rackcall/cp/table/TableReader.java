package dev.rackcall.cp.table;

import dev.rackcall.cp.control.DcTarget;
import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/**
 * Looks up records in tables of other hosts by one-sided READs. It has its own queue pair, so lookups and data do not
 * delay each other. Any thread may use it, one at a time.
 */
public final class TableReader implements AutoCloseable {
    /** The table could not be read, or belongs to another life of its owner. */
    public static final class StaleTableException extends Exception {
        private static final long serialVersionUID = 1L;

        public StaleTableException(String message) {
            super(message, null, false, false);
        }
    }

    private static final int ABSENT = -1;
    private static final int TORN = -2;
    private static final int MAX_RECORD_BYTES = 64;
    /** A record that is torn this often in a row is broken. */
    private static final int TRIES = 64;

    /** With a single processor, spinning would keep it from the device's threads and from a peer on this machine. */
    private static final int SPINS = Runtime.getRuntime().availableProcessors() > 1 ? 2_000 : 0;

    private static final long PATIENCE_NANOS = 5_000_000_000L;
    private static final long YIELD_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    private final CompletionQueue completions;
    private final QueuePair queuePair;
    private final HostDevice end;
    private final boolean isDynamic;
    private final MemoryRegion region;
    private final MemorySegment landing;
    private final WorkRequest read = WorkRequest.create(1, 0);
    private final Completions batch = Completions.create(4);
    private long round;
    private boolean useless;
    private boolean closed;

    private TableReader(HostDevice end, CompletionQueue completions, QueuePair queuePair, boolean isDynamic) {
        this.end = end;
        this.completions = completions;
        this.queuePair = queuePair;
        this.isDynamic = isDynamic;
        landing = Arena.ofAuto().allocate((long) TableLayout.WINDOW * MAX_RECORD_BYTES, 64);
        region = end.domain().register(landing, EnumSet.of(Access.LOCAL_WRITE));
    }

    /** A reader for all hosts that have a DC target. It is closed with the device. */
    public static TableReader ofAll(HostDevice end) {
        CompletionQueue completions = end.polledQueue(16);
        QueuePair initiator = end.initiator(completions, 8, 1, 0);
        return end.keep(new TableReader(end, completions, initiator, true));
    }

    /**
     * A reader for the host that this queue pair is connected to. It is useless after a failed READ.
     *
     * @param completions the completion queue, used by this queue pair only
     * @param connected has room for a request; must outlive the reader
     */
    public static TableReader ofOne(HostDevice end, CompletionQueue completions, QueuePair connected) {
        return new TableReader(end, completions, connected, false);
    }

    /** The record of this key at the connected host, as {@link #find(DcTarget, TableLocation, int, long, Function)}. */
    public <T> Optional<T> find(TableLocation table, int recordBytes, long key, Function<ByteBuffer, T> parse)
            throws StaleTableException {
        return find(Optional.empty(), table, recordBytes, key, parse);
    }

    /**
     * The record of this key.
     *
     * @param parse parses the payload; throws IllegalArgumentException if it cannot
     * @return empty if the table has none
     */
    public <T> Optional<T> find(
            DcTarget target, TableLocation table, int recordBytes, long key, Function<ByteBuffer, T> parse)
            throws StaleTableException {
        return find(Optional.of(target), table, recordBytes, key, parse);
    }

    private synchronized <T> Optional<T> find(
            Optional<DcTarget> target, TableLocation table, int recordBytes, long key, Function<ByteBuffer, T> parse)
            throws StaleTableException {
        if (useless || closed) {
            throw new StaleTableException("the queue pair for look-ups has failed or is closed");
        }
        for (int i = 0; i < TRIES; i++) {
            read(target, table, recordBytes, key);
            int found = search(table, recordBytes, key);
            if (found >= 0) {
                ByteBuffer payload = landing.asSlice(
                                (long) found + TableLayout.HEADER_BYTES, recordBytes - TableLayout.HEADER_BYTES)
                        .asByteBuffer()
                        .order(ByteOrder.nativeOrder());
                return Optional.of(parse.apply(payload));
            }
            if (found == ABSENT) {
                return Optional.empty();
            }
        }
        throw new StaleTableException("torn " + TRIES + " times in a row");
    }

    /** Number of READs and of failures so far, together. */
    synchronized long rounds() {
        return round;
    }

    /** Offset of the record in {@link #landing}, ABSENT or TORN. */
    private int search(TableLocation table, int recordBytes, long key) throws StaleTableException {
        int result = ABSENT;
        for (int i = 0; i < TableLayout.WINDOW; i++) {
            int at = i * recordBytes;
            if (TableLayout.isEmpty(landing, at)) {
                continue;
            }
            if (!TableLayout.isWhole(landing, at, recordBytes)) {
                // It may be the record that is looked up.
                result = TORN;
            } else if (TableLayout.epoch(landing, at) != table.epoch()) {
                throw new StaleTableException(
                        "epoch " + TableLayout.epoch(landing, at) + " instead of " + table.epoch());
            } else if (TableLayout.key(landing, at) == key) {
                return at;
            }
        }
        return result;
    }

    private void read(Optional<DcTarget> target, TableLocation table, int recordBytes, long key)
            throws StaleTableException {
        round++;
        long bucketBytes = (long) TableLayout.SLOTS * recordBytes;
        read.read(table.address() + TableLayout.bucket(key, table.log2Buckets()) * bucketBytes, table.key())
                .from(region, 0, TableLayout.WINDOW * recordBytes)
                .id(round)
                .signaled();
        if (target.isPresent()) {
            read.toTarget(
                    target.get().handle(), target.get().number(), target.get().key());
        }
        if (!queuePair.postSend(read)) {
            revive();
            throw new StaleTableException("the queue pair for look-ups was full");
        }
        await();
    }

    private void await() throws StaleTableException {
        long start = System.nanoTime();
        int polls = 0;
        while (true) {
            int count = completions.poll(batch);
            for (int i = 0; i < count; i++) {
                if (batch.id(i) != round) {
                    // Flushed in an earlier life of the queue pair.
                    continue;
                }
                if (batch.isSuccess(i)) {
                    return;
                }
                String how = "READ ended with " + batch.status(i);
                revive();
                throw new StaleTableException(how);
            }
            long waited = System.nanoTime() - start;
            if (waited > PATIENCE_NANOS) {
                revive();
                throw new StaleTableException("READ has not ended within 5 s");
            }
            if (++polls < SPINS) {
                Thread.onSpinWait();
            } else if (waited < YIELD_NANOS) {
                // The device's own thread may need this processor.
                Thread.yield();
            } else {
                // The host may be away; a processor is not to be busy until that is certain.
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    private void revive() {
        if (isDynamic) {
            queuePair.toReset();
            end.startInitiator(queuePair);
            round++;
        } else {
            useless = true;
        }
    }

    /** Closes it when no lookup is in progress any more. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            region.close();
        }
    }
}
