package dev.rackcall.shm.pool;

import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.os.BootId;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The hosts that share a pool. A kernel cannot tell whether a process of another host is alive. Each host therefore has
 * its own participant numbers, locked on its own kernel. What a whole host had is freed only on request, by a caller
 * that knows that the host has ended. A host number belongs to one boot of one host. A second host that was given the
 * same number by mistake is therefore rejected, and does not declare the first one's participants dead.
 */
final class PoolHosts {
    /** The participant number of the pool itself. */
    static final int POOL = ArenaSpec.MAX_PARTICIPANT;

    private static final int NUMBERS = ArenaSpec.MAX_PARTICIPANT / PoolLayout.HOSTS;
    private static final long MAKING_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private PoolHosts() {}

    static int checked(int host) {
        if (host < 0 || host >= PoolLayout.HOSTS) {
            throw new IllegalArgumentException("there is no host " + host
                    + "; give each host a number of its own, from 0 to " + (PoolLayout.HOSTS - 1));
        }
        return host;
    }

    /** The participants that are processes of one host. */
    static Participants participants(SharedFile file, MemorySegment memory, int host) {
        return new Participants(file, memory, itself(host) + 1, last(host));
    }

    /**
     * The participant number of the host itself. It is never locked; only {@link Pool#reclaimHost} frees what it has.
     */
    static int itself(int host) {
        return 1 + host * NUMBERS;
    }

    /** The highest participant number of a host. */
    static int last(int host) {
        return itself(host) + NUMBERS - 1;
    }

    /**
     * Whether this host must create the pool. If another host is creating it, waits until that is done.
     *
     * @param memory a device that holds a pool, or is blank except for the maker's number
     */
    static boolean mustMake(MemorySegment memory, int host, Object name) {
        if (PoolLayout.isBlank(memory) && PoolLayout.becomeMaker(memory, host)) {
            return true;
        }
        long end = System.nanoTime() + MAKING_NANOS;
        while (!PoolLayout.isMade(memory) && PoolLayout.maker(memory) >= 0) {
            if (System.nanoTime() - end > 0) {
                throw new PoolException("host " + PoolLayout.maker(memory) + " began to create pool " + name
                        + " and did not finish; when no host uses the device, clear its first page");
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return false;
    }

    /** Takes this host's number. */
    static void enter(MemorySegment memory, int host, BootId boot, Object name) {
        if (!PoolLayout.isSharedByHosts(memory)) {
            throw new PoolException(
                    "pool " + name + " was created for one host; open it there with Pool.dax(path), or clear"
                            + " its first page while it is unused, to share it");
        }
        long present = PoolLayout.takeHost(memory, host, boot.bits());
        if (present != boot.bits()) {
            throw new PoolException("pool " + name + " is used under host number " + host + " by another boot ("
                    + Long.toHexString(present) + ", this is " + Long.toHexString(boot.bits())
                    + "): give each host a number of its own; if this host was restarted, have another host call"
                    + " Pool.reclaimHost(" + host + ") first");
        }
    }

    /**
     * Rejects a pool of several hosts, because this host's kernel cannot tell whether participants of the others are
     * alive.
     */
    static void requireAlone(MemorySegment memory, Object name) {
        if (PoolLayout.isSharedByHosts(memory)) {
            throw new PoolException(
                    "pool " + name + " is shared by several hosts; say which one this is: Pool.dax(path, host)");
        }
    }
}
