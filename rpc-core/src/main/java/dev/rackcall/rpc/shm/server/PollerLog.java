package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.spi.LogLimit;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs failures on a poller, which must continue because many clients depend on it. Lines are limited, since a peer may
 * cause them repeatedly.
 */
final class PollerLog {
    private static final Logger LOG = LoggerFactory.getLogger(PollerLog.class);
    private static final LogLimit LOG_LIMIT = new LogLimit();
    /** Pause after a failed turn, so that a permanent failure does not occupy a processor. */
    private static final long FAILED_TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private PollerLog() {}

    /** Runs an action for one connection: its failure must not affect the others. */
    static void guarded(String what, Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error e) {
            if (LOG_LIMIT.allows()) {
                LOG.error("{} failed; the poller goes on{}", what, LOG_LIMIT.skipped(), e);
            }
        }
    }

    /** Logs a failed turn. The poller continues, since all its connections depend on it. */
    static void failedTurn(Throwable thrown) {
        if (LOG_LIMIT.allows()) {
            LOG.error("polling failed; the server goes on{}", LOG_LIMIT.skipped(), thrown);
        }
        LockSupport.parkNanos(FAILED_TURN_NANOS);
    }

    static void brokeProtocol(Peer peer, String channel, ProtocolBreachException how) {
        if (LOG_LIMIT.allows()) {
            LOG.warn(
                    "{} of channel {} broke the protocol ({}); its connection is closed{}",
                    peer,
                    channel,
                    how.getMessage(),
                    LOG_LIMIT.skipped());
        }
    }

    /** Not all of a call's resources could be released. */
    static void failedEnding(Peer peer, String channel, Throwable thrown) {
        if (LOG_LIMIT.allows()) {
            LOG.error(
                    "a call of {} of channel {} did not give back all it had{}",
                    peer,
                    channel,
                    LOG_LIMIT.skipped(),
                    thrown);
        }
    }

    static void failedServing(Peer peer, String channel, Throwable thrown) {
        if (LOG_LIMIT.allows()) {
            LOG.error(
                    "serving {} of channel {} failed; its connection is closed{}",
                    peer,
                    channel,
                    LOG_LIMIT.skipped(),
                    thrown);
        }
    }
}
