package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.NamedFile;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.file.Unmapping;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * The arena that all clients of a channel share, in its own memfd, and its participants. The server is participant 1.
 * Thread-safe.
 *
 * <p>Each client gets its own file description, on which the byte of its number is locked. The kernel drops the lock
 * once the client has neither the descriptor nor a mapping. Only then its memory is reclaimed and its number reused: a
 * client that the server has disconnected may still use its memory.
 */
public final class SharedPool implements AutoCloseable {
    private static final LimitedLog LOG = LimitedLog.of(SharedPool.class);
    private static final int SERVER = Handshake.SERVER_PARTICIPANT;
    private static final int MAX_PARTICIPANTS = Handshake.MAX_PARTICIPANTS;

    private static final long FIRST_BYTES = 64 << 10;
    /** Where the lock bytes begin: far past the end of the file. */
    private static final long LOCKS = 1L << 60;

    /**
     * A client's place.
     *
     * @param number its participant number
     * @param file the client's description; the server closes its copy once it is sent
     */
    record Seat(int number, SharedFile file) implements AutoCloseable {
        @Override
        public void close() {
            file.close();
        }
    }

    /** Holds the locks of all free numbers. */
    private final SharedFile file;

    private final Mapping mapping;
    private final Arena arena;
    private final BitSet taken = new BitSet();
    /** Taken numbers whose connection has ended, while the client may still have the memory. */
    private final BitSet leaving = new BitSet();

    /** For participants unknown to the kernel: whether they have left. */
    private final Map<Integer, BooleanSupplier> sayThemselves = new HashMap<>();

    private boolean closed;

    /** Uses memory of this host, whose kernel tracks its users. */
    SharedPool(String channel, int arenaId, long quota) {
        this(SharedFile.memfd("rackcall" + channel + "-shared", quota), arenaId);
        file.tryLock(LOCKS + SERVER, MAX_PARTICIPANTS);
    }

    /**
     * Uses memory whose users no kernel tracks: clients join by {@link #join(BooleanSupplier)}.
     *
     * @param file all zero; closed here
     */
    public SharedPool(SharedFile file, int arenaId) {
        this.file = file;
        Mapping mapped = null;
        try {
            mapped = file.map().ownedBy("the server of the channel");
            arena = Arena.create(new ArenaSpec(
                    arenaId,
                    mapped.memory(),
                    file,
                    0,
                    TableHome.SHARED,
                    SERVER,
                    FIRST_BYTES,
                    Handshake.SHARED_ARENA_FULL));
            mapping = mapped;
        } catch (RuntimeException | Error e) {
            if (mapped != null) {
                mapped.close();
            }
            file.close();
            throw e;
        }
        taken.set(0);
        taken.set(SERVER);
    }

    public Arena arena() {
        return arena;
    }

    long bytes() {
        return file.bytes();
    }

    /** A place for a new client; {@link #leave} must be called when its connection ends. */
    synchronized Seat join() {
        reclaim();
        SharedFile own = NamedFile.reopen(file);
        try {
            for (int number = next(); number <= MAX_PARTICIPANTS; number = next()) {
                taken.set(number);
                file.unlock(LOCKS + number);
                if (own.tryLock(LOCKS + number)) {
                    return new Seat(number, own);
                }
                // A client took a lock that is not its own; the kernel drops it when that client ends.
                leaving.set(number);
            }
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "all %d participant numbers of the channel's shared arena are taken, %d of them by clients that were"
                                    + " disconnected but still have it mapped; end those",
                            MAX_PARTICIPANTS, leaving.cardinality())
                    .asException();
        } catch (RuntimeException | Error e) {
            own.close();
            throw e;
        }
    }

    /**
     * A number for a client that reports its own leaving; {@link #leave} must still be called when its connection ends.
     *
     * @param hasLeft whether that client has stopped using the arena for good
     */
    synchronized int join(BooleanSupplier hasLeft) {
        reclaim();
        int number = next();
        if (number > MAX_PARTICIPANTS) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with("all %d participant numbers of the channel's shared arena are taken", MAX_PARTICIPANTS)
                    .asException();
        }
        taken.set(number);
        sayThemselves.put(number, hasLeft);
        return number;
    }

    private boolean hasLeft(int number) {
        BooleanSupplier says = sayThemselves.get(number);
        return says == null ? file.tryLock(LOCKS + number) : says.getAsBoolean();
    }

    private int next() {
        return taken.nextClearBit(0);
    }

    /** The connection of that client has ended. */
    public synchronized void leave(int participant) {
        leaving.set(participant);
        reclaim();
    }

    /**
     * Frees the numbers and memory of clients that have left after their connection ended, and repairs the header.
     * Called periodically.
     */
    synchronized void reclaim() {
        if (!closed && arena.mendHeader()) {
            LOG.warn("a client has overwritten the header of a shared arena, which was mended");
        }
        for (int number = leaving.nextSetBit(0); number >= 0 && !closed; number = leaving.nextSetBit(number + 1)) {
            if (hasLeft(number)) {
                arena.reclaim(number);
                sayThemselves.remove(number);
                leaving.clear(number);
                taken.clear(number);
            }
        }
    }

    /** Whether no client uses the arena. */
    public synchronized boolean isDeserted() {
        reclaim();
        return taken.cardinality() == 2;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            Unmapping.of(List.of(mapping), file::close);
        }
    }
}
