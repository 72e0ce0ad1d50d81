package dev.rackcall.cp.server;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.agent.LocalQueue;
import dev.rackcall.cp.agent.LocalTenant;
import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The agent's side of a session's memory: carries out the tenant's entries in order and publishes completions. The
 * memory is not trusted: each field is read once and checked, and the agent keeps its own state in its heap.
 *
 * <p>The pump calls {@link #step}. Work that waits for other hosts runs on another thread; only later entries of the
 * same tenant wait for it.
 */
final class SessionQueues implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SessionQueues.class);
    /** Maximum number of entries of one tenant in one step. */
    private static final int BURST = 16;

    private static final String IN_USE = "this place has a virtual queue or a port already";

    private static final int PLACES_AT_A_TIME = 64;
    private static final long CLOSE_NANOS = 10_000_000_000L;
    private static final long PAUSE_NANOS = 1_000_000;

    private final LocalTenant tenant;
    private final SessionLayout layout;
    private final Runnable wake;
    private final Runnable ring;
    private final SharedFile file;
    private final Mapping mapping;
    private final MemorySegment memory;
    private final SessionPlace[] places;
    /** Groups of places whose memory is reserved. */
    private final BitSet reserved = new BitSet();

    private final Completions batch = Completions.create(32);
    private final Deque<SessionPlace> changed = new ArrayDeque<>();
    private volatile boolean hasChanged;
    /**
     * Entries taken. Owned, like {@link #places}, by the pump while {@link #stalled} is false, otherwise by the thread
     * that {@link #later} has started.
     */
    private long taken;

    private volatile boolean stalled;
    private boolean closed;

    /**
     * @param wake wakes the pump
     * @param ring wakes the tenant for messages; never waits
     */
    SessionQueues(LocalTenant tenant, SessionLayout layout, Runnable wake, Runnable ring) {
        this.ring = ring;
        this.tenant = tenant;
        this.layout = layout;
        this.wake = wake;
        file = SharedFile.memfd("rackcall-session", layout.byteSize());
        try {
            file.reserve(0, layout.place(0));
            mapping = file.map();
        } catch (RuntimeException e) {
            file.close();
            throw e;
        }
        memory = mapping.memory();
        places = new SessionPlace[layout.places()];
    }

    /** The memory, for the tenant's process. */
    SharedFile file() {
        return file;
    }

    /** Tells the tenant whether it must ring after an entry. */
    synchronized void watch(boolean now) {
        if (!closed) {
            // Partner: Places.published.
            SessionLayout.INT.setRelease(memory, SessionLayout.WATCHED, now ? 1 : 0);
        }
    }

    /** Whether a step has work. */
    synchronized boolean hasWork() {
        return !closed && (hasChanged || (!stalled && isNextThere()));
    }

    /** Serves this tenant; returns whether there was work. */
    synchronized boolean step() {
        if (closed) {
            return false;
        }
        boolean worked = hasChanged && deliver();
        for (int i = 0; i < BURST && !stalled && isNextThere() && handle(layout.entry(taken)); i++) {
            took();
            worked = true;
        }
        return worked;
    }

    private boolean isNextThere() {
        // Partner: EntryRing.publish.
        return (long) SessionLayout.LONG.getAcquire(memory, layout.entry(taken)) == taken + 1;
    }

    private void took() {
        taken++;
        // Partner: EntryRing.hasRoom, which may then overwrite the entry.
        SessionLayout.LONG.setRelease(memory, SessionLayout.TAKEN, taken);
    }

    void note(SessionPlace place) {
        synchronized (changed) {
            if (place.noted()) {
                return;
            }
            place.noted(true);
            changed.add(place);
            hasChanged = true;
        }
        // Another thread may call this while the pump sleeps.
        wake.run();
    }

    private boolean deliver() {
        while (true) {
            SessionPlace place;
            synchronized (changed) {
                if (changed.isEmpty()) {
                    hasChanged = false;
                    return true;
                }
                place = changed.poll();
                place.noted(false);
            }
            place.deliver(batch);
        }
    }

    /** Handles an entry; returns false if it must be retried later. */
    private boolean handle(long at) {
        int kind = memory.get(JAVA_INT, at + SessionLayout.KIND);
        int index = memory.get(JAVA_INT, at + SessionLayout.PLACE);
        long id = memory.get(JAVA_LONG, at + SessionLayout.ID);
        if (index < 0 || index >= places.length) {
            return true;
        }
        SessionPlace place = place(index);
        switch (kind) {
            case SessionLayout.REQUEST -> {
                return place.queue().isEmpty() || request(place, place.queue().get(), at, id);
            }
            case SessionLayout.CONNECT -> {
                return connect(place, at, id);
            }
            case SessionLayout.BIND -> bind(place, at, id);
            case SessionLayout.GIVE -> give(place, at + SessionLayout.SEGMENT, id);
            case SessionLayout.CLOSE -> place.close(id);
            default -> place.answer(id);
        }
        return true;
    }

    private void bind(SessionPlace place, long at, long id) {
        int port = memory.get(JAVA_INT, at + SessionLayout.REMOTE_KEY);
        boolean tells = (memory.get(JAVA_INT, at + SessionLayout.FLAGS) & SessionLayout.TELLS) != 0;
        if (place.isUsed()) {
            place.refuse(id, Kind.REFUSED, IN_USE);
            return;
        }
        try {
            place.open(id, tenant.bind(port, () -> note(place)), tells ? ring : () -> {});
        } catch (ControlPlaneException e) {
            place.refuse(id, e.kind(), String.valueOf(e.getMessage()));
        }
    }

    private void give(SessionPlace place, long segment, long id) {
        long address = memory.get(JAVA_LONG, segment);
        int length = memory.get(JAVA_INT, segment + SessionLayout.SEGMENT_LENGTH);
        int key = memory.get(JAVA_INT, segment + SessionLayout.SEGMENT_KEY);
        place.give(address, length, key, id);
    }

    private SessionPlace place(int index) {
        if (places[index] == null) {
            reserve(index);
            places[index] = new SessionPlace(this, layout, memory, index);
        }
        return places[index];
    }

    /** Reserves the memory of many places at a time, since each call takes long. */
    private void reserve(int index) {
        int group = index / PLACES_AT_A_TIME;
        if (!reserved.get(group)) {
            int first = group * PLACES_AT_A_TIME;
            long from = layout.place(first);
            file.reserve(from, layout.place(Math.min(places.length, first + PLACES_AT_A_TIME)) - from);
            reserved.set(group);
        }
    }

    private boolean request(SessionPlace place, LocalQueue queue, long at, long id) {
        if (queue.state() != QueuePairState.READY_TO_SEND) {
            boolean isTurn = queue.isQuiet();
            if (isTurn) {
                place.flush(id);
            }
            return isTurn;
        }
        queue.copy(memory, at);
        return queue.isQuickToPush() ? push(queue) : later(() -> push(queue));
    }

    private static boolean push(LocalQueue queue) {
        try {
            return queue.pushCopy();
        } catch (ControlPlaneException failedMeanwhile) {
            return false;
        }
    }

    private boolean connect(SessionPlace place, long at, long id) {
        long value = memory.get(JAVA_LONG, at + SessionLayout.REMOTE_ADDRESS);
        boolean hasAddress = memory.get(JAVA_INT, at + SessionLayout.REMOTE_KEY) != 0;
        Gid gid = new Gid(
                memory.get(JAVA_LONG, at + SessionLayout.INLINE), memory.get(JAVA_LONG, at + SessionLayout.GID_LOW));
        int number = memory.get(JAVA_INT, at + SessionLayout.GID_NUMBER);
        HostId host;
        Optional<ControlAddress> address;
        try {
            host = new HostId(value);
            address = hasAddress ? Optional.of(new ControlAddress(gid, number)) : Optional.empty();
        } catch (IllegalArgumentException e) {
            place.refuse(id, Kind.REFUSED, String.valueOf(e.getMessage()));
            return true;
        }
        if (place.isUsed()) {
            place.refuse(id, Kind.REFUSED, IN_USE);
            return true;
        }
        return open(place, id, () -> tenant.connectIfKnown(host, place::changed))
                || later(() -> open(place, id, () -> Optional.of(tenant.connect(host, address, place::changed))));
    }

    /** Opens a queue; returns false if its host must be looked up first. */
    private static boolean open(SessionPlace place, long id, Supplier<Optional<LocalQueue>> connection) {
        try {
            Optional<LocalQueue> queue = connection.get();
            if (queue.isEmpty()) {
                return false;
            }
            place.open(id, queue.get());
        } catch (ControlPlaneException e) {
            place.refuse(id, e.kind(), String.valueOf(e.getMessage()));
        } catch (IllegalArgumentException | VerbsException e) {
            place.refuse(id, Kind.REFUSED, String.valueOf(e.getMessage()));
        }
        return true;
    }

    private boolean later(BooleanSupplier work) {
        stalled = true;
        Thread.ofVirtual().name("rackcall-look-up").start(() -> {
            try {
                if (work.getAsBoolean()) {
                    took();
                }
            } catch (RuntimeException e) {
                LOG.warn("tenant {}: an entry is dropped", tenant.name(), e);
                took();
            } finally {
                stalled = false;
                wake.run();
            }
        });
        return false;
    }

    /** Closes the tenant with its queues and regions, and releases the memory. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        long start = System.nanoTime();
        while (stalled && System.nanoTime() - start < CLOSE_NANOS) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        tenant.close();
        file.close();
        if (stalled) {
            LOG.warn("tenant {}: a look-up has not ended; {} bytes stay mapped", tenant.name(), layout.byteSize());
        } else {
            mapping.close();
        }
    }
}
