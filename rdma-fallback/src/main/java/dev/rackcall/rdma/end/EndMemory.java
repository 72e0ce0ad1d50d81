package dev.rackcall.rdma.end;

import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The regions that one end has registered at the device, and everything else that is closed with this end. Thread-safe.
 */
public abstract class EndMemory {
    /** The peer may write to the connection's memory and read it: all of it is meant for the peer. */
    protected static final Set<Access> PEER = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ);

    private static final Logger LOG = LoggerFactory.getLogger(EndMemory.class);

    /** Guarded by the monitor, with {@link #closed}. */
    private final Deque<AutoCloseable> made = new ArrayDeque<>();

    private boolean closed;

    /** The connection's memory. */
    public abstract MemoryRegion region();

    /**
     * Lets the device use a file of this process in this connection's requests. May wait for an agent process, which
     * reserves the whole file. The caller keeps the file and may close it; the region ends with this memory.
     *
     * @throws RuntimeException {@link dev.rackcall.shm.os.OsException} if the file cannot be mapped; {@link
     *     dev.rackcall.verbs.VerbsException} or {@link dev.rackcall.cp.ControlPlaneException} if the device takes no
     *     more regions, or this end was closed in the meantime
     */
    public abstract MemoryRegion own(SharedFile file);

    /** Closes this part together with this end. */
    protected final synchronized <T extends AutoCloseable> T keep(T part) {
        made.push(part);
        return part;
    }

    /** As {@link #keep}, unless this end is closed. Then it returns false, and the caller closes the part. */
    protected final synchronized boolean keepIfOpen(AutoCloseable part) {
        if (!closed) {
            made.push(part);
        }
        return !closed;
    }

    protected final synchronized boolean isClosed() {
        return closed;
    }

    /** Prevents further registrations. Waits for one that holds the monitor. */
    public final synchronized void registerNoMore() {
        closed = true;
    }

    /** Closes these parts first, because their requests use the memory; then all others, newest first. */
    public final void close(AutoCloseable... first) {
        Deque<AutoCloseable> all = new ArrayDeque<>();
        synchronized (this) {
            closed = true;
            for (AutoCloseable part : first) {
                made.remove(part);
                all.add(part);
            }
            all.addAll(made);
            made.clear();
        }
        all.forEach(EndMemory::closeQuietly);
    }

    /** Closes a part; a failure is logged, so that the others are closed, too. */
    protected static void closeQuietly(AutoCloseable part) {
        try {
            part.close();
        } catch (Exception e) {
            LOG.warn("a part of a connection cannot be closed: {}", e.toString());
        }
    }
}
