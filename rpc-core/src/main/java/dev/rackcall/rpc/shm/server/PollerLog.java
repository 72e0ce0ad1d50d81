package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.spi.LimitedLog;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Logs failures on a poller, which must continue because many clients depend on it. Lines are limited, since a peer may
 * cause them repeatedly.
 */
final class PollerLog {
    private static final LimitedLog LOG = LimitedLog.of(PollerLog.class);
    /** Pause after a failed turn, so that a permanent failure does not occupy a processor. */
    private static final long FAILED_TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private PollerLog() {}

    /** Runs an action for one connection: its failure must not affect the others. */
    static void guarded(String what, Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error e) {
            LOG.error("{} failed; the poller goes on", what, e);
        }
    }

    /** Logs a failed turn. The poller continues, since all its connections depend on it. */
    static void failedTurn(Throwable thrown) {
        LOG.error("polling failed; the server goes on", thrown);
        LockSupport.parkNanos(FAILED_TURN_NANOS);
    }

    static void brokeProtocol(Peer peer, String channel, ProtocolBreachException how) {
        LOG.warn("{} of channel {} broke the protocol ({}); its connection is closed", peer, channel, how.getMessage());
    }

    /** Not all of a call's resources could be released. */
    static void failedEnding(Peer peer, String channel, Throwable thrown) {
        LOG.error("a call of {} of channel {} did not give back all it had", peer, channel, thrown);
    }

    static void failedServing(Peer peer, String channel, Throwable thrown) {
        LOG.error("serving {} of channel {} failed; its connection is closed", peer, channel, thrown);
    }
}
