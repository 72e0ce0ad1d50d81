package dev.rackcall.rdma.end;

import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether a connection has ended, and why. Thread-safe. */
public final class Ending {
    private static final Logger LOG = LoggerFactory.getLogger(Ending.class);

    private final Supplier<String> peer;
    private volatile boolean ended;
    /** Written before {@link #ended}. */
    private String why = "";

    private volatile boolean silent;

    /** @param peer the peer's address, for the log */
    public Ending(Supplier<String> peer) {
        this.peer = peer;
    }

    public boolean hasEnded() {
        return ended;
    }

    /** Why the connection has ended: a clause about the peer. */
    public String why() {
        return ended ? why : "it has not ended";
    }

    /**
     * Ends the connection. The caller also {@linkplain MirrorCarrier#tellEnd reports} the end once it holds no lock.
     *
     * @param reason a clause about the peer; only the first reason counts
     */
    public synchronized void end(String reason) {
        if (ended) {
            return;
        }
        why = reason;
        ended = true;
        if (!silent) {
            LOG.debug("the peer at {} is gone: {}", peer.get(), reason);
        }
    }

    /** This end is closed: later failures are expected and not logged. */
    void silence() {
        silent = true;
    }
}
