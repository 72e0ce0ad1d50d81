package dev.rackcall.rpc.shm.pool;

import dev.rackcall.rpc.spi.LogLimit;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread of a process that looks at the words of its {@link PoolBell}s: no kernel tells one host of another's stores. It looks every 100 us while there is
 * something to see and every millisecond otherwise, which is what a sleeper waits for its ring at most. It ends with the last bell.
 */
final class PoolWatcher {
    private static final Logger LOG = LoggerFactory.getLogger(PoolWatcher.class);
    private static final LogLimit LOG_LIMIT = new LogLimit();
    private static final long BUSY_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
    private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** Looks without news after which there is nothing to see. */
    private static final int PATIENCE = 100;

    private static final PoolWatcher SHARED = new PoolWatcher();

    private final List<PoolBell> bells = new CopyOnWriteArrayList<>();
    private boolean running;

    private PoolWatcher() {}

    static PoolWatcher shared() {
        return SHARED;
    }

    synchronized void add(PoolBell bell) {
        if (!running) {
            Thread thread = new Thread(this::run, "rackcall-pool-watcher");
            thread.setDaemon(true);
            thread.start();
            running = true;
        }
        // The thread looks for it once this has returned.
        bells.add(bell);
    }

    /** Once this has returned, the watcher does not touch the bell's words any more: a bell that is closed is only looked at under its lock. */
    void remove(PoolBell bell) {
        bells.remove(bell);
    }

    private void run() {
        int quiet = 0;
        while (goesOn()) {
            boolean news = false;
            for (PoolBell bell : bells) {
                news |= look(bell);
            }
            quiet = news ? 0 : Math.min(quiet + 1, PATIENCE);
            LockSupport.parkNanos(quiet < PATIENCE ? BUSY_NANOS : IDLE_NANOS);
        }
    }

    private boolean look(PoolBell bell) {
        try {
            return bell.look(System.nanoTime());
        } catch (IllegalStateException | WrongThreadException e) {
            // The JVM also says the second of memory that is closed in this moment.
            LOG.debug("a connection's pool was closed before the connection", e);
            bell.lose();
            return false;
        } catch (RuntimeException | Error e) {
            // All other connections of this process through pools depend on this thread.
            if (LOG_LIMIT.allows()) {
                LOG.error("a connection through a pool failed; it ends{}", LOG_LIMIT.skipped(), e);
            }
            bell.lose();
            bells.remove(bell);
            return false;
        }
    }

    private synchronized boolean goesOn() {
        running = !bells.isEmpty();
        return running;
    }
}
