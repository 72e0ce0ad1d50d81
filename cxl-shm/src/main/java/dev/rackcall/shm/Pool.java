package dev.rackcall.shm;

import dev.rackcall.shm.os.BootId;
import dev.rackcall.shm.os.Mapping;
import dev.rackcall.shm.os.NamedFile;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.SharedFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
    private static final Logger LOG = LoggerFactory.getLogger(Pool.class);
    private static final Set<String> MEMORY_FILE_SYSTEMS = Set.of("tmpfs", "hugetlbfs", "ramfs");
    private static final long FIRST_MEMFD_BYTES = 64 << 10;
    /** Each attempt that fails here has met a pool that was just going away. */
    private static final int MAX_ATTEMPTS = 16;

    private final SharedFile file;
    private final Mapping mapping;
    private final Participants participants;
    private final Arena arena;
    /** Only of several hosts. */
    @SuppressWarnings("OptionalUsedAsFieldOrParameterType")
    private Optional<PoolCommons> commons = Optional.empty();

    private boolean closed;

    private Pool(SharedFile file, Mapping mapping, Participants participants, Arena arena) {
        this.file = file;
        this.mapping = mapping;
        this.participants = participants;
        this.arena = arena;
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
        checked(bytes);
        return explained("pool " + name, () -> {
            SharedFile file =
                    options.wantsHugePages() ? hugeMemfd(name, bytes, options) : SharedFile.memfd(name, bytes);
            return closingOnFailure(file, () -> create(file, FIRST_MEMFD_BYTES, options));
        });
    }

    private static SharedFile hugeMemfd(String name, long bytes, PoolOptions options) {
        try {
            return SharedFile.hugeMemfd(name, bytes);
        } catch (OsException e) {
            PoolOptions.lacking(options.requiresHugePages(), "pool " + name + " cannot be had: " + e.getMessage(), e);
            return SharedFile.memfd(name, bytes);
        }
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
        return explained("pool " + path, () -> {
            checked(bytes);
            removeDead(path);
            warnUnlessMemory(path);
            SharedFile file = NamedFile.create(path, bytes);
            return closingOnFailure(file, () -> {
                options.checkPages(file);
                Pool pool = create(file, file.bytes(), options);
                if (NamedFile.publish(file)) {
                    return pool;
                }
                pool.mapping.close();
                throw new PoolException("pool " + path + " was made by somebody else just now; open it");
            });
        });
    }

    private static Pool create(SharedFile file, long initialBytes, PoolOptions options) {
        return create(file, initialBytes, options, memory -> new Participants(file, memory));
    }

    private static Pool create(
            SharedFile file, long initialBytes, PoolOptions options, Function<MemorySegment, Participants> who) {
        requireReachable(file);
        Mapping mapping = file.map();
        return closingOnFailure(mapping, () -> {
            options.place(mapping.memory(), file.kind());
            file.reserve(0, initialBytes == file.bytes() ? initialBytes : PoolLayout.ARENA);
            int arenaId = 1 + ThreadLocalRandom.current().nextInt(ArenaSpec.MAX_ID);
            Participants participants = who.apply(mapping.memory());
            int number = participants.join();
            Arena arena = Arena.create(spec(file, mapping, arenaId, number, initialBytes));
            PoolLayout.initialise(mapping.memory(), arenaId, newInstance());
            return new Pool(file, mapping, participants, arena);
        });
    }

    private static void warnUnlessMemory(Path path) {
        try {
            String type = Files.getFileStore(path.toAbsolutePath().getParent()).type();
            if (!MEMORY_FILE_SYSTEMS.contains(type)) {
                LOG.warn(
                        "pool {} lies on {}, so the kernel will write it to a disk; /dev/shm would be faster",
                        path,
                        type);
            }
        } catch (IOException e) {
            // Creating the file says what is wrong with the directory.
            LOG.debug("file system of {}", path, e);
        }
    }

    private static void removeDead(Path path) {
        if (!path.toFile().exists()) {
            return;
        }
        try (SharedFile old = SharedFile.openFile(path);
                Mapping mapping = mapPool(old)) {
            NamedFile.requirePrivate(old);
            Participants participants = new Participants(old, mapping.memory());
            int users = participants.closeGate() ? participants.others() : 1;
            if (users > 0) {
                throw new PoolException("pool " + path + " is in use by " + users
                        + " others; join it with Pool.open, or choose another name");
            }
            NamedFile.remove(old);
        }
    }

    // ---- joining

    /**
     * Joins a pool that {@link #file} made. If nobody of those who used it is alive, it is empty then.
     *
     * @throws PoolException if there is none, if it is damaged, of another layout version, or another user's
     */
    public static Pool open(Path path) {
        return explained("pool " + path, () -> {
            for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
                SharedFile file = SharedFile.openFile(path);
                Pool pool = closingOnFailure(file, () -> {
                    NamedFile.requirePrivate(file);
                    return joinUnlessGone(file);
                });
                if (pool != null) {
                    return pool;
                }
                file.close();
            }
            throw new PoolException("pool " + path + " is made and removed again and again; try once more");
        });
    }

    /**
     * Joins a pool of {@link #memfd} whose descriptor a peer sent.
     *
     * @param received what {@link SharedFile#adopt} made of it; closed here, in any case
     * @throws PoolException if it is no pool, or its length could change
     */
    public static Pool join(SharedFile received) {
        return explained("pool " + received, () -> {
            try (received) {
                if (!received.isSealed()) {
                    throw new PoolException(
                            "pool " + received + " is not sealed, so its sender could truncate it; send a Pool.memfd");
                }
                SharedFile file = NamedFile.reopen(received);
                return closingOnFailure(file, () -> join(file, mapPool(file)));
            }
        });
    }

    /**
     * Joins the pool on a device-dax device, or makes one if the device was never used.
     *
     * @throws PoolException if it is no such device, is misaligned, or holds something else
     */
    public static Pool dax(Path path) {
        return explained("pool " + path, () -> {
            SharedFile file = SharedFile.openDax(path);
            return closingOnFailure(file, () -> {
                boolean blank;
                try (Mapping mapping = file.map()) {
                    blank = PoolLayout.isBlank(mapping.memory());
                }
                return blank ? create(file, file.bytes(), PoolOptions.create()) : join(file, mapPool(file));
            });
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
            return closingOnFailure(file, () -> ofHost(file, host, BootId.current()));
        });
    }

    /** The pool of several hosts in {@code file}, which is as long as it will be and not closed here. */
    static Pool ofHost(SharedFile file, int host, BootId boot) {
        PoolHosts.checked(host);
        try (Mapping mapping = file.map()) {
            if (PoolHosts.mustMake(mapping.memory(), host, file)) {
                PoolLayout.sharedByHosts(mapping.memory());
                PoolLayout.takeHost(mapping.memory(), host, boot.bits());
                return create(
                                file,
                                file.bytes(),
                                PoolOptions.create(),
                                memory -> PoolHosts.participants(file, memory, host))
                        .withCommons(host, boot);
            }
        }
        Mapping mapping = mapPool(file);
        return closingOnFailure(mapping, () -> {
            PoolHosts.enter(mapping.memory(), host, boot, file);
            return join(file, mapping, PoolHosts.participants(file, mapping.memory(), host))
                    .withCommons(host, boot);
        });
    }

    private Pool withCommons(int host, BootId boot) {
        Arena asHost = Arena.attach(spec(file, mapping, arena.id(), PoolHosts.itself(host), 0));
        Arena asPool = Arena.attach(spec(file, mapping, arena.id(), PoolHosts.POOL, 0));
        commons = Optional.of(new PoolCommons(file, mapping.memory(), host, boot, asHost, asPool));
        return this;
    }

    private static Pool joinUnlessGone(SharedFile file) {
        Mapping mapping = mapPool(file);
        return closingOnFailure(mapping, () -> {
            Pool pool = join(file, mapping);
            if (NamedFile.isPublished(file)) {
                return pool;
            }
            // Its last user removed it between our open and our lock.
            mapping.close();
            return null;
        });
    }

    private static Pool join(SharedFile file, Mapping mapping) {
        return closingOnFailure(mapping, () -> {
            PoolHosts.requireAlone(mapping.memory(), file);
            return join(file, mapping, new Participants(file, mapping.memory()));
        });
    }

    private static Pool join(SharedFile file, Mapping mapping, Participants participants) {
        return closingOnFailure(mapping, () -> {
            if (!participants.closeGate()) {
                throw new PoolException("pool " + file
                        + " is being opened or closed by a process that does not go on; end that process (see fuser)");
            }
            try {
                // Of several hosts nobody knows whether the others' processes live.
                boolean abandoned = participants.others() == 0 && !PoolLayout.isSharedByHosts(mapping.memory());
                int number = participants.join();
                if (number == 0) {
                    throw new PoolException("pool " + file + " has all " + participants.most()
                            + " participants that it can have; close some of them");
                }
                Arena arena = attach(file, mapping, number);
                // Whoever had this number is dead.
                arena.reclaim(number);
                participants.forEachDead(number, arena::reclaim);
                if (abandoned) {
                    PoolLayout.instance(mapping.memory(), newInstance());
                }
                return new Pool(file, mapping, participants, arena);
            } finally {
                participants.openGate();
            }
        });
    }

    private static Arena attach(SharedFile file, Mapping mapping, int number) {
        try {
            return Arena.attach(spec(file, mapping, PoolLayout.arenaId(mapping.memory()), number, 0));
        } catch (RefException e) {
            throw new PoolException("pool " + file + " is damaged: " + e.getMessage() + "; remove it", e);
        }
    }

    /** Maps a file that should be a pool, having looked at its length and its header. */
    private static Mapping mapPool(SharedFile file) {
        if (file.bytes() < PoolLayout.MIN_BYTES || file.bytes() % ArenaLayout.PAGE != 0) {
            throw new PoolException("pool " + file + " cannot be used: " + file.bytes()
                    + " bytes are too few or no whole pages, so it is no pool or was damaged; remove it");
        }
        requireReachable(file);
        Mapping mapping = file.map();
        String complaint = PoolLayout.complaint(mapping.memory());
        if (complaint != null) {
            mapping.close();
            throw new PoolException("pool " + file + " cannot be used: " + complaint);
        }
        return mapping;
    }

    private static ArenaSpec spec(SharedFile file, Mapping mapping, int arenaId, int participant, long initialBytes) {
        MemorySegment region = mapping.memory().asSlice(PoolLayout.ARENA);
        return new ArenaSpec(arenaId, region, file, PoolLayout.ARENA, TableHome.SHARED, participant, initialBytes);
    }

    private static long checked(long bytes) {
        if (bytes < PoolLayout.MIN_BYTES || bytes > PoolLayout.MAX_BYTES) {
            throw new PoolException(
                    "a pool cannot have " + bytes + " bytes; give it " + PoolLayout.MIN_BYTES + " bytes to 1 TiB");
        }
        return bytes;
    }

    /** Of what was not made by {@link #memfd} or {@link #file}: a device, or a file of whatever length. */
    private static void requireReachable(SharedFile file) {
        if (file.bytes() > PoolLayout.MAX_BYTES) {
            throw new PoolException("pool " + file + " cannot be used: Refs reach 1 TiB; "
                    + "divide a device into smaller ones (daxctl), or remove the file");
        }
    }

    private static long newInstance() {
        return ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    }

    private static Pool explained(String what, Supplier<Pool> action) {
        try {
            return action.get();
        } catch (OsException | OutOfArenaException e) {
            throw new PoolException(what + " cannot be had: " + e.getMessage(), e);
        }
    }

    private static <R> R closingOnFailure(AutoCloseable resource, Supplier<R> action) {
        try {
            return action.get();
        } catch (RuntimeException | Error e) {
            try {
                resource.close();
            } catch (Exception suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
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
     * the first time. Only in a pool of several hosts.
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
