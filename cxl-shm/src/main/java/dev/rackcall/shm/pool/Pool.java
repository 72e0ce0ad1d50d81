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
 * Memory that several processes map and allocate in, with one {@link Arena} over all of it. Three kinds:
 *
 * <ul>
 *   <li>{@link #memfd}: has no name; others get its descriptor over a Unix socket and {@link #join}. It grows as it is used and is gone with
 *       its last user. The usual choice on one host.
 *   <li>{@link #file}: a name on tmpfs or hugetlbfs, that others {@link #open}. All its memory is reserved when it is made. The last user
 *       who closes it removes the name.
 *   <li>{@link #dax}: a device of CXL or persistent memory.
 * </ul>
 *
 * <p>Each pool object is a participant of its own: what it allocated and did not give away is freed when it is closed, or when its process has
 * died and somebody opens the pool or calls {@link #reclaimDead}. Life is proven by a lock that the kernel holds, so a stopped process is not
 * taken for dead. These locks reach as far as the host: several hosts on one device each say their number ({@link #dax(Path, int)}), and what a host had that is
 * gone is freed by {@link #reclaimHost}.
 *
 * <p>Thread-safe. After {@link #close} every access to the memory is an {@link IllegalStateException}. All failures of the methods here are
 * {@link PoolException}s.
 */
public final class Pool implements AutoCloseable {
    private final SharedFile file;
    private final Mapping mapping;
    private final Participants participants;
    private final Arena arena;
    /** Only of several hosts. */
    private final Optional<PoolCommons> commons;

    private boolean closed;

    /** Of memory that is mapped, locks that are held, and an arena that is attached. */
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

    /** The same, as one of several hosts has it. */
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

    /** As {@link #memfd(String, long, PoolOptions)}, with no wishes. */
    public static Pool memfd(String name, long bytes) {
        return memfd(name, bytes, PoolOptions.create());
    }

    /**
     * Makes a pool without a name.
     *
     * @param name for people who look at {@code /proc/PID/maps}
     * @param bytes its quota; memory is taken only as it is needed
     * @throws PoolException if the host refuses, or lacks what {@code options} require
     */
    public static Pool memfd(String name, long bytes, PoolOptions options) {
        return explained("pool " + name, () -> PoolMaker.memfd(name, bytes, options));
    }

    /** As {@link #file(Path, long, PoolOptions)}, with no wishes. */
    public static Pool file(Path path, long bytes) {
        return file(path, bytes, PoolOptions.create());
    }

    /**
     * Makes a pool with a name, mode 0600, all its memory reserved. A pool of that name whose users are all dead is replaced.
     *
     * @throws PoolException if somebody uses that pool, if the name belongs to something else, if there is not enough memory, or not of the kind
     *     that {@code options} require
     */
    public static Pool file(Path path, long bytes, PoolOptions options) {
        return explained("pool " + path, () -> PoolMaker.file(path, bytes, options));
    }

    // ---- joining

    /**
     * Joins a pool that {@link #file} made. If nobody of those who used it is alive, it is empty then.
     *
     * @throws PoolException if there is none, if it is damaged, of another layout version, or another user's
     */
    public static Pool open(Path path) {
        return explained("pool " + path, () -> PoolJoiner.open(path));
    }

    /**
     * Joins a pool of {@link #memfd} whose descriptor a peer sent.
     *
     * @param received what {@link SharedFile#adopt} made of it; closed here, in any case
     * @throws PoolException if it is no pool, or its length could change
     */
    public static Pool join(SharedFile received) {
        return explained("pool " + received, () -> PoolJoiner.received(received));
    }

    /**
     * Joins the pool on a device-dax device, or makes one if the device was never used.
     *
     * @throws PoolException if it is no such device, is misaligned, or holds something else
     */
    public static Pool dax(Path path) {
        return explained("pool " + path, () -> {
            SharedFile file = SharedFile.openDax(path);
            return OnFailure.close(file, () -> PoolDevice.ofOneHost(file));
        });
    }

    /**
     * As {@link #dax(Path)}, of a device that several hosts map. All of them say their number; the first to come makes the pool.
     *
     * @param host this host's number, from 0 to 63, which no other host of the device has
     * @throws PoolException also if another boot has that number
     */
    public static Pool dax(Path path, int host) {
        return explained("pool " + path, () -> {
            SharedFile file = SharedFile.openDax(path);
            return OnFailure.close(file, () -> ofHost(file, host, BootId.current()));
        });
    }

    /** The pool of several hosts in {@code file}, which is as long as it will be and not closed here. */
    static Pool ofHost(SharedFile file, int host, BootId boot) {
        return PoolDevice.ofHost(file, host, boot);
    }

    private static Pool explained(String what, Supplier<Pool> action) {
        try {
            return action.get();
        } catch (OsException | OutOfArenaException e) {
            throw new PoolException(what + " cannot be had: " + e.getMessage(), e);
        }
    }

    // ---- using

    /** The arena over all of its memory, in which this pool object is a participant. */
    public Arena arena() {
        return arena;
    }

    /** What hosts need of it beyond scopes; empty unless it is a pool of several hosts. */
    public Optional<PoolCommons> commons() {
        return commons;
    }

    /**
     * The file behind it, for example to send its descriptor to a peer; belongs to the pool. Whoever keeps a copy of that descriptor keeps this
     * participant's lock too: {@link #join} does not.
     */
    public SharedFile file() {
        return file;
    }

    /** Length in bytes. */
    public long bytes() {
        return file.bytes();
    }

    /** Changes whenever the pool was opened and nobody was alive of those who used it before. */
    public long instanceId() {
        return PoolLayout.instance(mapping.memory());
    }

    /** Whether nobody has closed this pool object yet. Others may do so at any time. */
    public boolean isOpen() {
        return mapping.memory().scope().isAlive();
    }

    /** How many others have the pool open now; of a pool of several hosts, how many on this host. */
    public int others() {
        return participants.others();
    }

    /** Frees what dead participants (of this host) had and nobody took over. Returns how many page runs that was. */
    public synchronized int reclaimDead() {
        int[] runs = new int[1];
        if (!closed) {
            participants.forEachDead(arena.participant(), number -> runs[0] += arena.reclaim(number));
        }
        return runs[0];
    }

    /**
     * Frees what all participants of another host had and nobody took over. The host may use the pool under that number again afterwards, as if for
     * the first time. Only in a pool of several hosts. What others still use of it, such as a connection to one of its servers, is freed too: they must have noticed its
     * end, which calls do within 5 s.
     *
     * @param host of which the caller knows that it has ended, or was cut off from this memory, and that none of its stores can still come: nothing here could find
     *     that out, and a host that is taken for dead while it goes on damages what others allocate
     * @return how many page runs that was
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

    /** Unmaps the memory of a pool that nobody is to get after all; whoever opened the file closes it. */
    void abandon() {
        mapping.close();
    }

    /** Frees what this participant has, unmaps the memory, and removes the name if nobody else uses the pool. Idempotent. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        // Closing the file also gives the locks back, so it happens whatever fails before.
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
