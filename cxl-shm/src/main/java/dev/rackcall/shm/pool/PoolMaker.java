package dev.rackcall.shm.pool;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.BootId;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.NamedFile;
import dev.rackcall.shm.os.file.SharedFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates pools. A maker that is killed leaves nothing behind: a memfd ends with it, and a file gets its name last. */
final class PoolMaker {
    private static final Logger LOG = LoggerFactory.getLogger(Pool.class);
    private static final Set<String> MEMORY_FILE_SYSTEMS = Set.of("tmpfs", "hugetlbfs", "ramfs");
    private static final long FIRST_MEMFD_BYTES = 64 << 10;

    private PoolMaker() {}

    static Pool memfd(String name, long bytes, PoolOptions options) {
        checked(bytes);
        SharedFile file = options.wantsHugePages() ? hugeMemfd(name, bytes, options) : SharedFile.memfd(name, bytes);
        return OnFailure.close(file, () -> create(file, FIRST_MEMFD_BYTES, options));
    }

    private static SharedFile hugeMemfd(String name, long bytes, PoolOptions options) {
        try {
            return SharedFile.hugeMemfd(name, bytes);
        } catch (OsException e) {
            PoolOptions.lacking(
                    options.requiresHugePages(), "pool " + name + " is not available: " + e.getMessage(), e);
            return SharedFile.memfd(name, bytes);
        }
    }

    static Pool file(Path path, long bytes, PoolOptions options) {
        checked(bytes);
        removeDead(path);
        warnUnlessMemory(path);
        SharedFile file = NamedFile.create(path, bytes);
        return OnFailure.close(file, () -> {
            options.checkPages(file);
            Pool pool = create(file, file.bytes(), options);
            if (NamedFile.publish(file)) {
                return pool;
            }
            pool.abandon();
            throw new PoolException("pool " + path + " was just created by another process; open it");
        });
    }

    private static void checked(long bytes) {
        if (bytes < PoolLayout.MIN_BYTES || bytes > PoolLayout.MAX_BYTES) {
            throw new PoolException(
                    "a pool cannot have " + bytes + " bytes; give it " + PoolLayout.MIN_BYTES + " bytes to 1 TiB");
        }
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
            // Creating the file will report what is wrong with the directory.
            LOG.debug("file system of {}", path, e);
        }
    }

    private static void removeDead(Path path) {
        if (!path.toFile().exists()) {
            return;
        }
        try (SharedFile old = SharedFile.openFile(path);
                Mapping mapping = PoolJoiner.mapPool(old)) {
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

    // ---- in an existing file

    /**
     * Creates a pool in a whole file whose first page is blank. Behind that page, the file may hold remains of an
     * earlier pool or anything else.
     */
    static Pool createInPlace(SharedFile file, Function<MemorySegment, Participants> who) {
        PoolJoiner.requireReachable(file);
        try (Mapping mapping = file.map()) {
            file.reserve(0, file.bytes());
            long arena = file.bytes() - PoolLayout.ARENA;
            long table = Math.min(arena, Arena.pagesAt(TableHome.SHARED, arena));
            mapping.memory().asSlice(PoolLayout.ARENA, table).fill((byte) 0);
        }
        return create(file, file.bytes(), PoolOptions.create(), who);
    }

    static Pool create(SharedFile file, long initialBytes, PoolOptions options) {
        return create(file, initialBytes, options, memory -> new Participants(file, memory));
    }

    static Pool create(
            SharedFile file, long initialBytes, PoolOptions options, Function<MemorySegment, Participants> who) {
        PoolJoiner.requireReachable(file);
        Mapping mapping = file.map().ownedBy("pool " + file);
        return OnFailure.close(mapping, () -> {
            options.place(mapping.memory(), file.kind());
            file.reserve(0, initialBytes == file.bytes() ? initialBytes : PoolLayout.ARENA);
            int arenaId = 1 + ThreadLocalRandom.current().nextInt(ArenaSpec.MAX_ID);
            Participants participants = who.apply(mapping.memory());
            int number = participants.join();
            Arena arena = Arena.create(PoolJoiner.spec(file, mapping, arenaId, number, initialBytes));
            PoolLayout.initialise(mapping.memory(), arenaId, PoolLayout.newInstance());
            return new Pool(file, mapping, participants, arena);
        });
    }

    // ---- on a device, or in any file of fixed length

    /**
     * Joins the pool of one host in {@code file}, or creates it if this is the first process. Does not close the file.
     */
    static Pool ofOneHost(SharedFile file) {
        try (Mapping mapping = file.map()) {
            Participants participants = new Participants(file, mapping.memory());
            // If several processes find the file blank, one of them creates the pool. If that one is killed, the next
            // one does.
            participants.requireGate();
            try {
                if (PoolLayout.isUnmade(mapping.memory())) {
                    return createInPlace(file, memory -> new Participants(file, memory));
                }
            } finally {
                participants.openGate();
            }
        }
        return PoolJoiner.join(file);
    }

    /**
     * Joins the pool of several hosts in {@code file}, or creates it if this is the first host. Does not close the
     * file.
     */
    static Pool ofHost(SharedFile file, int host, BootId boot) {
        PoolHosts.checked(host);
        try (Mapping mapping = file.map()) {
            if (PoolHosts.mustMake(mapping.memory(), host, file)) {
                PoolLayout.sharedByHosts(mapping.memory());
                PoolLayout.takeHost(mapping.memory(), host, boot.bits());
                return createInPlace(file, memory -> PoolHosts.participants(file, memory, host))
                        .withCommons(host, boot);
            }
        }
        Mapping mapping = PoolJoiner.mapPool(file);
        return OnFailure.close(mapping, () -> {
            PoolHosts.enter(mapping.memory(), host, boot, file);
            return PoolJoiner.join(file, mapping, PoolHosts.participants(file, mapping.memory(), host))
                    .withCommons(host, boot);
        });
    }
}
