package dev.rackcall.shm.pool;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.os.BootId;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What several hosts need of a pool beyond scopes: roots by which they find each other, and memory that belongs to a host, or to the pool itself, and not to one
 * process: it is not freed when that process ends, since others may still use it. Places are told as bytes from the pool's start, the same on every
 * host. Thread-safe; usable as long as the pool is open.
 */
public final class PoolCommons {
    private final SharedFile file;
    private final MemorySegment memory;
    private final int host;
    private final BootId boot;
    private final Arena asHost;
    private final Arena asPool;
    /** Runs by their places, of what this process has taken. */
    private final Map<Long, Run> taken = new ConcurrentHashMap<>();

    private record Run(Arena owner, long ref) {}

    PoolCommons(SharedFile file, MemorySegment memory, int host, BootId boot, Arena asHost, Arena asPool) {
        this.file = file;
        this.memory = memory;
        this.host = host;
        this.boot = boot;
        this.asHost = asHost;
        this.asPool = asPool;
    }

    /** This host's number. */
    public int host() {
        return host;
    }

    /** This host's boot. */
    public BootId boot() {
        return boot;
    }

    /** Whether that boot of that host may still use the pool: nobody has called {@link Pool#reclaimHost} for it since. */
    public boolean isThere(int otherHost, long otherBoot) {
        return otherHost >= 0 && otherHost < PoolLayout.HOSTS && PoolLayout.boot(memory, otherHost) == otherBoot;
    }

    /** The whole pool. */
    public MemorySegment memory() {
        return memory;
    }

    /** Words that were 0 when the pool was made, and mean what those agree on who use them. */
    public MemorySegment roots() {
        return memory.asSlice(PoolLayout.ROOTS, PoolLayout.ROOTS_BYTES);
    }

    /**
     * Memory that is this host's until somebody gives it back or {@link Pool#reclaimHost} frees it; whatever was there is in it.
     *
     * @return where it begins, on a border of 4096 bytes
     * @throws OutOfArenaException if the pool is full
     */
    public long takeForHost(long bytes) {
        return remember(asHost, asHost.allocateRun(bytes), Arena.PAGE_BYTES);
    }

    /** As {@link #takeForHost}, of memory that is nobody's and stays as long as the pool, unless who took it gives it back. */
    public long takeForPool(long bytes) {
        return remember(asPool, asPool.allocateRun(bytes), Arena.PAGE_BYTES);
    }

    /** As {@link #takeForHost}, of memory that can be mapped by itself: whole pages of the device. */
    public long takeWindow(long bytes) {
        return remember(asHost, asHost.allocateRun(windowBytes(bytes) + file.pageBytes()), file.pageBytes());
    }

    /** What a window of {@code bytes} takes: whole pages of the device. */
    public long windowBytes(long bytes) {
        return (bytes + file.pageBytes() - 1) & -file.pageBytes();
    }

    private long remember(Arena owner, long ref, long border) {
        long place = (PoolLayout.ARENA + Ref.offset(ref) + border - 1) & -border;
        taken.put(place, new Run(owner, ref));
        return place;
    }

    /** Gives back what this process has taken; nobody may use it any more. */
    public void give(long place) {
        Run run = taken.remove(place);
        if (run == null) {
            throw new IllegalArgumentException("this process has taken nothing at " + place);
        }
        run.owner().freeRun(run.ref());
    }

    /**
     * What lies at a window's place, as a file to map. Belongs to the caller.
     *
     * @throws IllegalArgumentException if it does not lie in the pool, on borders of its pages
     */
    public SharedFile window(long place, long bytes) {
        return file.window(place, bytes);
    }
}
