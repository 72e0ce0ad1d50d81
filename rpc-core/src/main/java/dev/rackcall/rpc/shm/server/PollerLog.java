package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.spi.LogLimit;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What goes wrong on a poller, which must go on: so many clients depend on it. Each line is limited, since a peer may cause it again and again. */
final class PollerLog {
    private static final Logger LOG = LoggerFactory.getLogger(PollerLog.class);
    private static final LogLimit LOG_LIMIT = new LogLimit();
    /** After a turn that failed, so that a failure that stays does not take a processor. */
    private static final long FAILED_TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private PollerLog() {}

    /** Does what concerns one connection only: if it fails, the others must not suffer. */
    static void guarded(String what, Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error e) {
            if (LOG_LIMIT.allows()) {
                LOG.error("{} failed; the poller goes on{}", what, LOG_LIMIT.skipped(), e);
            }
        }
    }

    /** Whatever went wrong, all connections of this poller depend on it. */
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

    /** What a call had could not all be given back. */
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
