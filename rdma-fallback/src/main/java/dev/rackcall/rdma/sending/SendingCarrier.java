package dev.rackcall.rdma.sending;

import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.shm.os.file.SharedFile;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One end of a connection that has a {@link Sending}, and an end. */
public abstract class SendingCarrier implements Carrier, Connection {
    private static final Logger LOG = LoggerFactory.getLogger(SendingCarrier.class);

    private final Object ending = new Object();
    private volatile boolean ended;
    /** Why; written before {@link #ended} is. */
    private String why = "";

    private final AtomicBoolean over = new AtomicBoolean();
    /** The sending half is. What is found from now on is no news. */
    private volatile boolean closed;

    /** Its sending half. */
    protected abstract Sending sending();

    /** The peer's place, for people. */
    protected abstract String peer();

    // ---- posting

    @Override
    public final boolean carry(long offset, long length) {
        return sending().carry(offset, length);
    }

    @Override
    public final boolean carryChanged(long offset, long length) {
        return sending().carryChanged(offset, length);
    }

    /** Bytes that {@link #carryChanged} has found changed and sent. */
    public final long carriedBytes() {
        return sending().carriedBytes();
    }

    @Override
    public final boolean store(long offset, long value) {
        return sending().store(offset, value);
    }

    @Override
    public final boolean publish(long offset, long value) {
        return sending().publish(offset, value, false);
    }

    @Override
    public final boolean proclaim(long offset, long value) {
        return sending().publish(offset, value, true);
    }

    @Override
    public final boolean tell(long number) {
        return sending().tell(number);
    }

    @Override
    public final boolean flush() {
        return sending().flush();
    }

    @Override
    public final void fetchInto(SharedFile area) {
        sending().fetchInto(area);
    }

    @Override
    public final boolean fetch(long offset, long areaOffset, long length, long deadline) {
        return sending().fetch(offset, areaOffset, length, deadline);
    }

    /** Bytes that {@link #fetch} has asked for. */
    public final long fetchedBytes() {
        return sending().fetchedBytes();
    }

    // ---- the end

    @Override
    public final boolean hasEnded() {
        return ended;
    }

    /** Why it has ended. */
    public final String whyEnded() {
        return ended ? why : "it has not ended";
    }

    @Override
    public final void end(String reason) {
        synchronized (ending) {
            if (ended) {
                return;
            }
            why = reason;
            ended = true;
        }
        if (!closed) {
            LOG.debug("the peer at {} is gone: {}", peer(), reason);
        }
    }

    protected final boolean isClosed() {
        return closed;
    }

    @Override
    public final void close() {
        if (over.compareAndSet(false, true)) {
            sending().close();
            closed = true;
            closeParts();
        }
    }

    /** Gives back all that this end has. Nothing is sent any more; called once. */
    protected abstract void closeParts();
}
