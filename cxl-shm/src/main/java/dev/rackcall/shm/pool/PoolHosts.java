package dev.rackcall.shm.pool;

import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.os.BootId;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The hosts that share a pool. No kernel knows whether a process of another host lives, so each host has participant numbers of its own and its kernel's locks on
 * them; what a whole host had is freed by others only when somebody who knows that it is gone says so. A host's number belongs to one boot of it, so that two
 * hosts that were given one number by mistake are noticed, and do not take each other's participants for dead.
 */
final class PoolHosts {
    /** The number for what is the pool's and no host's. */
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

    /** Those of one host that its processes have. */
    static Participants participants(SharedFile file, MemorySegment memory, int host) {
        return new Participants(file, memory, itself(host) + 1, last(host));
    }

    /** The number for what is the host's and no process's: nobody locks it, and only {@link Pool#reclaimHost} frees what it has. */
    static int itself(int host) {
        return 1 + host * NUMBERS;
    }

    /** The highest of its participants' numbers. */
    static int last(int host) {
        return itself(host) + NUMBERS - 1;
    }

    /**
     * Whether this host is to make the pool. If another one is about to, waits until it has.
     *
     * @param memory of a device that is blank but for its maker, or holds a pool
     */
    static boolean mustMake(MemorySegment memory, int host, Object name) {
        if (PoolLayout.isBlank(memory) && PoolLayout.becomeMaker(memory, host)) {
            return true;
        }
        long end = System.nanoTime() + MAKING_NANOS;
        while (!PoolLayout.isMade(memory) && PoolLayout.maker(memory) >= 0) {
            if (System.nanoTime() - end > 0) {
                throw new PoolException("pool " + name + " was begun by host " + PoolLayout.maker(memory)
                        + " and never made; when no host uses the device, clear its first page");
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return false;
    }

    /** Takes this host's number. */
    static void enter(MemorySegment memory, int host, BootId boot, Object name) {
        if (!PoolLayout.isSharedByHosts(memory)) {
            throw new PoolException(
                    "pool " + name + " was made for one host; open it there with Pool.dax(path), or, when nobody"
                            + " uses it, clear its first page to share it");
        }
        long present = PoolLayout.takeHost(memory, host, boot.bits());
        if (present != boot.bits()) {
            throw new PoolException("pool " + name + " is used under host number " + host + " by another boot ("
                    + Long.toHexString(present) + ", this is " + Long.toHexString(boot.bits())
                    + "): give each host a number of its own; if this host was started anew, have another host call"
                    + " Pool.reclaimHost(" + host + ") first");
        }
    }

    /** Refuses a pool whose other hosts this one would not notice. */
    static void requireAlone(MemorySegment memory, Object name) {
        if (PoolLayout.isSharedByHosts(memory)) {
            throw new PoolException(
                    "pool " + name + " is shared by several hosts; say which one this is: Pool.dax(path, host)");
        }
    }
}
