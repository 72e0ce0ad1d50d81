package dev.rackcall.shm.pool;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.os.BootId;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.NamedFile;
import dev.rackcall.shm.os.file.SharedFile;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Memory that several processes map and allocate in, with one {@link Arena} over all of it. There are three kinds:
 *
 * <ul>
 *   <li>{@link #memfd}: has no name. Other processes receive its descriptor over a Unix socket and {@link #join}. It
 *       grows as it is used and ends with its last user. The usual choice on one host.
 *   <li>{@link #file}: has a name on tmpfs or hugetlbfs, which other processes {@link #open}. All its memory is
 *       reserved at the start. The last user that closes it removes the name.
 *   <li>{@link #dax}: a device of CXL or persistent memory.
 * </ul>
 *
 * <p>Each pool object is a participant. What it allocated and did not hand over is freed when it is closed. If its
 * process dies, the next process that opens the pool or calls {@link #reclaimDead} frees it. A process holds a kernel
 * lock as long as it lives, so a stopped process is not declared dead. These locks work within one host. Hosts that
 * share a device must each pass their own number to {@link #dax(Path, int)}. {@link #reclaimHost} frees what a dead
 * host had.
 *
 * <p>Thread-safe. After {@link #close} every access to the memory throws an {@link IllegalStateException}. All failures
 * of the methods here are {@link PoolException}s.
 */
public final class Pool implements AutoCloseable {
    private final SharedFile file;
    private final Mapping mapping;
    private final Participants participants;
    private final Arena arena;
    /** Only in a pool of several hosts. */
    private final Optional<PoolCommons> commons;

    private boolean closed;

    /** Creates a pool object from mapped memory, held locks and an attached arena. */
    Pool(SharedFile file, Mapping mapping, Participants participants, Arena arena) {
        this(file, mapping, participants, arena, Optional.empty());
    }

    private Pool(
            SharedFile file, Mapping mapping, Participants participants, Arena arena, Optional<PoolCommons> commons) {
        this.file = file;
        this.mapping = mapping;
        this.participants = participants;
        this.arena = arena;
        this.commons = commons;
    }

    /** The same pool with {@link PoolCommons}, for one of several hosts. */
    Pool withCommons(int host, BootId boot) {
        Arena asHost = Arena.attach(PoolJoiner.spec(file, mapping, arena.id(), PoolHosts.itself(host), 0));
        Arena asPool = Arena.attach(PoolJoiner.spec(file, mapping, arena.id(), PoolHosts.POOL, 0));
        return new Pool(
                file,
                mapping,
                participants,
                arena,
                Optional.of(new PoolCommons(file, mapping.memory(), host, boot, asHost, asPool)));
    }

    // ---- making

    /** As {@link #memfd(String, long, PoolOptions)}, without options. */
    public static Pool memfd(String name, long bytes) {
        return memfd(name, bytes, PoolOptions.create());
    }

    /**
     * Creates a pool without a name.
     *
     * @param name shown in {@code /proc/PID/maps}
     * @param bytes its quota; memory is reserved only as it is needed
     * @throws PoolException if the host refuses, or lacks what {@code options} require
     */
    public static Pool memfd(String name, long bytes, PoolOptions options) {
        return explained("pool " + name, () -> PoolMaker.memfd(name, bytes, options));
    }

    /** As {@link #file(Path, long, PoolOptions)}, without options. */
    public static Pool file(Path path, long bytes) {
        return file(path, bytes, PoolOptions.create());
    }

    /**
     * Creates a pool with a name, mode 0600, and all its memory reserved. It replaces a pool of that name whose users
     * are all dead.
     *
     * @throws PoolException if that pool is in use, the name belongs to something else, or the host lacks memory of the
     *     required kind
     */
    public static Pool file(Path path, long bytes, PoolOptions options) {
        return explained("pool " + path, () -> PoolMaker.file(path, bytes, options));
    }

    // ---- joining

    /**
     * Joins a pool that {@link #file} created. If all its former users are dead, the pool is then empty.
     *
     * @throws PoolException if it is missing, damaged, of another layout version, or owned by another user
     */
    public static Pool open(Path path) {
        return explained("pool " + path, () -> PoolJoiner.open(path));
    }

    /**
     * Joins a {@link #memfd} pool whose descriptor a peer sent.
     *
     * @param received the result of {@link SharedFile#adopt}; always closed here
     * @throws PoolException if it is not a pool, or its length could change
     */
    public static Pool join(SharedFile received) {
        return explained("pool " + received, () -> PoolJoiner.received(received));
    }

    /**
     * Joins the pool on a device-dax device, or creates one on a device that was never used.
     *
     * @throws PoolException if it is not such a device, is misaligned, or holds something else
     */
    public static Pool dax(Path path) {
        return explained("pool " + path, () -> {
            SharedFile file = SharedFile.openDax(path);
            return OnFailure.close(file, () -> PoolMaker.ofOneHost(file));
        });
    }

    /**
     * As {@link #dax(Path)}, for a device that several hosts map. Each host gives its number; the first one creates the
     * pool.
     *
     * @param host this host's number, from 0 to 63; no other host of the device may have it
     * @throws PoolException as {@link #dax(Path)}, or if another boot uses that number
     */
    public static Pool dax(Path path, int host) {
        return explained("pool " + path, () -> {
            SharedFile file = SharedFile.openDax(path);
            return OnFailure.close(file, () -> ofHost(file, host, BootId.current()));
        });
    }

    /**
     * Joins, or creates, the pool of several hosts in {@code file}, which has its final length and is not closed here.
     */
    static Pool ofHost(SharedFile file, int host, BootId boot) {
        return PoolMaker.ofHost(file, host, boot);
    }

    private static Pool explained(String what, Supplier<Pool> action) {
        try {
            return action.get();
        } catch (OsException | OutOfArenaException e) {
            throw new PoolException(what + " is not available: " + e.getMessage(), e);
        }
    }

    // ---- using

    /** The arena over all of its memory, in which this pool object is a participant. */
    public Arena arena() {
        return arena;
    }

    /** Roots and memory outside scopes, for a pool of several hosts; empty in a pool of one host. */
    public Optional<PoolCommons> commons() {
        return commons;
    }

    /**
     * The pool's file, for example for sending its descriptor to a peer. The pool closes it. A copy of the descriptor
     * also keeps this participant's lock held; {@link #join} opens the file again and does not.
     */
    public SharedFile file() {
        return file;
    }

    /** Length in bytes. */
    public long bytes() {
        return file.bytes();
    }

    /** A random number that changes when the pool is opened after all its users died. */
    public long instanceId() {
        return PoolLayout.instance(mapping.memory());
    }

    /** Whether this pool object is still open. Another thread may close it at any time. */
    public boolean isOpen() {
        return mapping.memory().scope().isAlive();
    }

    /** How many other participants have the pool open now; in a pool of several hosts, only those on this host. */
    public int others() {
        return participants.others();
    }

    /** Frees what dead participants of this host had. Returns the number of page runs. */
    public synchronized int reclaimDead() {
        int[] runs = new int[1];
        if (!closed) {
            participants.forEachDead(arena.participant(), number -> runs[0] += arena.reclaim(number));
        }
        return runs[0];
    }

    /**
     * Frees what all participants of another host had. That host may then use the pool again under the same number.
     * Only in a pool of several hosts. Memory of that host that others still use, such as a connection to one of its
     * servers, is freed too. The other hosts must have noticed its end before; their calls do so within 5 s.
     *
     * @param host a host that has ended or was cut off from this memory, so that none of its stores can still arrive.
     *     The caller must be sure of this, since this method cannot check it. A host that continues afterwards damages
     *     what others allocate
     * @return the number of page runs
     * @throws IllegalArgumentException if that is this host
     */
    public synchronized int reclaimHost(int host) {
        if (participants.isOf(PoolHosts.checked(host))) {
            throw new IllegalArgumentException(
                    "host " + host + " is this host, so it has not ended; see Pool.reclaimDead");
        }
        if (closed || !PoolLayout.isSharedByHosts(mapping.memory())) {
            return 0;
        }
        int runs = 0;
        int last = Math.min(PoolHosts.last(host), PoolLayout.participants(mapping.memory()));
        for (int number = PoolHosts.itself(host); number <= last; number++) {
            runs += arena.reclaim(number);
        }
        PoolLayout.freeHost(mapping.memory(), host);
        return runs;
    }

    /** Unmaps the memory of a pool that is not returned to the user. The caller closes the file. */
    void abandon() {
        mapping.close();
    }

    /** Frees what this participant has and unmaps the memory. The last user also removes the name. Idempotent. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        // Closing the file also releases the locks, so it must happen even if an earlier step fails.
        try (file;
                mapping) {
            arena.reclaim(arena.participant());
            boolean isNamed = file.kind() == SharedFile.Kind.FILE;
            if (isNamed && participants.closeGate() && participants.others() == 0) {
                NamedFile.remove(file);
            }
        }
    }

    @Override
    public String toString() {
        return "pool " + file;
    }
}
