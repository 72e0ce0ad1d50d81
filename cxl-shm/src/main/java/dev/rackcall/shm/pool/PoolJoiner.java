package dev.rackcall.shm.pool;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.NamedFile;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;

/** Joins existing pools, and frees what dead participants left. Checks everything in a file before using it. */
final class PoolJoiner {
    /** An attempt fails only if the pool is being removed at that moment. */
    private static final int MAX_ATTEMPTS = 16;

    private static final String WHEN_FULL = "close scopes, or create the pool with more bytes (PoolOptions)";

    private PoolJoiner() {}

    static Pool open(Path path) {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            SharedFile file = SharedFile.openFile(path);
            Optional<Pool> pool = OnFailure.close(file, () -> {
                NamedFile.requirePrivate(file);
                return joinUnlessGone(file);
            });
            if (pool.isPresent()) {
                return pool.get();
            }
            file.close();
        }
        throw new PoolException("pool " + path + " is being created and removed repeatedly; try again");
    }

    private static Optional<Pool> joinUnlessGone(SharedFile file) {
        Pool pool = join(file);
        if (NamedFile.isPublished(file)) {
            return Optional.of(pool);
        }
        // The pool's last user removed the name between our open and our lock.
        pool.abandon();
        return Optional.empty();
    }

    static Pool received(SharedFile received) {
        try (received) {
            if (!received.isSealed()) {
                throw new PoolException(
                        "pool " + received + " is not sealed, so its sender could truncate it; send a Pool.memfd");
            }
            SharedFile file = NamedFile.reopen(received);
            return OnFailure.close(file, () -> join(file));
        }
    }

    /** Joins the pool in the file. On failure, the caller closes the file. */
    static Pool join(SharedFile file) {
        Mapping mapping = mapPool(file);
        return OnFailure.close(mapping, () -> {
            PoolHosts.requireAlone(mapping.memory(), file);
            return join(file, mapping, new Participants(file, mapping.memory()));
        });
    }

    static Pool join(SharedFile file, Mapping mapping, Participants participants) {
        return OnFailure.close(mapping, () -> {
            participants.requireGate();
            try {
                // In a pool of several hosts, other hosts' processes may be alive.
                boolean abandoned = participants.others() == 0 && !PoolLayout.isSharedByHosts(mapping.memory());
                int number = participants.join();
                if (number == 0) {
                    throw new PoolException("pool " + file + " has all " + participants.most()
                            + " participants that it can have; close some of them");
                }
                Arena arena = attach(file, mapping, number);
                // The former owner of this number is dead.
                arena.reclaim(number);
                participants.forEachDead(number, arena::reclaim);
                if (abandoned) {
                    PoolLayout.instance(mapping.memory(), PoolLayout.newInstance());
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

    /** Maps a file that should be a pool, and checks its length and its header. */
    static Mapping mapPool(SharedFile file) {
        if (file.bytes() < PoolLayout.MIN_BYTES || file.bytes() % Arena.PAGE_BYTES != 0) {
            throw new PoolException("pool " + file + " cannot be used: " + file.bytes()
                    + " bytes are too few or not whole pages, so it is not a pool or was damaged; remove it");
        }
        requireReachable(file);
        Mapping mapping = file.map().ownedBy("pool " + file);
        String complaint = PoolLayout.complaint(mapping.memory());
        if (complaint != null) {
            mapping.close();
            throw new PoolException("pool " + file + " cannot be used: " + complaint);
        }
        return mapping;
    }

    static ArenaSpec spec(SharedFile file, Mapping mapping, int arenaId, int participant, long initialBytes) {
        MemorySegment region = mapping.memory().asSlice(PoolLayout.ARENA);
        return new ArenaSpec(
                arenaId, region, file, PoolLayout.ARENA, TableHome.SHARED, participant, initialBytes, WHEN_FULL);
    }

    /** Rejects a file longer than Refs can reach, such as a large device. */
    static void requireReachable(SharedFile file) {
        if (file.bytes() > PoolLayout.MAX_BYTES) {
            throw new PoolException("pool " + file + " cannot be used: Refs reach 1 TiB; "
                    + "divide a device into smaller ones (daxctl), or remove the file");
        }
    }
}
