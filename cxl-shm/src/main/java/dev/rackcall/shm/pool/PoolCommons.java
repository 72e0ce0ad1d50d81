package dev.rackcall.shm.pool;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.os.BootId;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What hosts that share a pool need besides scopes: roots, by which they find each other, and memory that belongs to a
 * host or to the pool itself. That memory is not freed when a process ends, since other processes may still use it. A
 * place is an offset from the pool's start, the same on every host. Thread-safe; usable as long as the pool is open.
 */
public final class PoolCommons {
    private final SharedFile file;
    private final MemorySegment memory;
    private final int host;
    private final BootId boot;
    private final Arena asHost;
    private final Arena asPool;
    /** The runs that this process has allocated, by place. */
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

    /** Whether that boot of that host may still use the pool: {@link Pool#reclaimHost} was not called for it. */
    public boolean isThere(int otherHost, long otherBoot) {
        return otherHost >= 0 && otherHost < PoolLayout.HOSTS && PoolLayout.boot(memory, otherHost) == otherBoot;
    }

    /** The whole pool. */
    public MemorySegment memory() {
        return memory;
    }

    /** Words for the users of the pool, 0 in a new pool. The users agree on their meaning. */
    public MemorySegment roots() {
        return memory.asSlice(PoolLayout.ROOTS, PoolLayout.ROOTS_BYTES);
    }

    /**
     * Allocates memory that belongs to this host until {@link #give} or {@link Pool#reclaimHost}. The memory is not
     * zeroed.
     *
     * @return its place, a multiple of 4096 bytes
     * @throws dev.rackcall.shm.OutOfArenaException if the pool is full
     */
    public long takeForHost(long bytes) {
        return remember(asHost, asHost.allocateRun(bytes), Arena.PAGE_BYTES);
    }

    /**
     * As {@link #takeForHost}, for memory that belongs to the pool and stays allocated as long as the pool exists, or
     * until {@link #give}.
     */
    public long takeForPool(long bytes) {
        return remember(asPool, asPool.allocateRun(bytes), Arena.PAGE_BYTES);
    }

    /** As {@link #takeForHost}, for memory that can be mapped separately: whole pages of the device. */
    public long takeWindow(long bytes) {
        return remember(asHost, asHost.allocateRun(windowBytes(bytes) + file.pageBytes()), file.pageBytes());
    }

    /** Length of a window for {@code bytes}: whole pages of the device. */
    public long windowBytes(long bytes) {
        return (bytes + file.pageBytes() - 1) & -file.pageBytes();
    }

    private long remember(Arena owner, long ref, long border) {
        long place = (PoolLayout.ARENA + Ref.offset(ref) + border - 1) & -border;
        taken.put(place, new Run(owner, ref));
        return place;
    }

    /** Frees memory that this process has allocated. It must no longer be in use. */
    public void give(long place) {
        Run run = taken.remove(place);
        if (run == null) {
            throw new IllegalArgumentException("this process has taken nothing at " + place);
        }
        run.owner().freeRun(run.ref());
    }

    /**
     * The memory of a window as a file for mapping, which the caller closes.
     *
     * @throws IllegalArgumentException if the window does not lie in the pool or does not consist of whole pages
     */
    public SharedFile window(long place, long bytes) {
        return file.window(place, bytes);
    }
}
