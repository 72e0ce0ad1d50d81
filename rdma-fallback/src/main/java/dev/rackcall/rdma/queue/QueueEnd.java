package dev.rackcall.rdma.queue;

import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.client.Patience;
import dev.rackcall.rdma.sending.ConnectionMemory;
import dev.rackcall.rdma.sending.PeerMemory;
import dev.rackcall.rpc.spi.CarrierProvider.Memory;
import dev.rackcall.shm.os.SharedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Errno;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one end of a connection has of the tenant: its memory, and a few words beside that, which the peer writes:
 *
 * <pre>
 *    +0 listens: not 0 if the peer wants to be told of the next publication | +64 beat: the peer's clock when it wrote that, to see whether this end is there
 *    +128 seen: what this end has READ last of the peer's listens | +192 greeting, which the peer READs
 * </pre>
 */
final class QueueEnd implements ConnectionMemory {
    static final long LISTENS = 0;
    static final long BEAT = 64;
    static final long SEEN = 128;
    private static final long GREETING = 192;

    private static final Logger LOG = LoggerFactory.getLogger(QueueEnd.class);
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    /** What the peer may do: push, and fetch. There is nothing in the memory that is not meant for it. */
    private static final Set<Access> PEER = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ);

    final MemorySegment memory;
    final MemoryRegion region;
    final MemoryRegion words;
    private final Tenant tenant;
    /** Guarded by the monitor, with what follows. */
    private final Deque<AutoCloseable> made = new ArrayDeque<>();

    private boolean closed;

    /**
     * Registers the memory.
     *
     * @param greetingBytes how long the greeting will be
     * @throws dev.rackcall.cp.ControlPlaneException if the tenant may have no more
     */
    QueueEnd(Tenant tenant, Memory memory, int greetingBytes) {
        this.tenant = tenant;
        this.memory = memory.mapped();
        try {
            region = keep(tenant.register(memory.file(), memory.mapped(), PEER));
            words = keep(PassingMemory.make(tenant, "rackcall-words", GREETING + greetingBytes, PEER))
                    .region();
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private <T extends AutoCloseable> T keep(T part) {
        made.push(part);
        return part;
    }

    /** The words of the end that greets. */
    static PeerMemory words(QueueGreeting peer) {
        return new PeerMemory(peer.words(), peer.wordsKey(), GREETING);
    }

    /** The peer's clock when it has written that last; 0 if it never has. */
    long beat() {
        return (long) LONG.getAcquire(words.memory(), BEAT);
    }

    /** Whether the peer's memory said so, when it was READ last, that this end listens. */
    boolean hasSeenListening() {
        return (long) LONG.getAcquire(words.memory(), SEEN) != 0;
    }

    /** @param number by which messages for this end are known; {@code port} is where they arrive */
    QueueGreeting greeting(long number, int port, ByteBuffer packet) {
        return new QueueGreeting(
                number,
                port,
                region.remoteKey(),
                region.address(),
                memory.byteSize(),
                words.remoteKey(),
                words.address(),
                System.nanoTime(),
                packet);
    }

    /** Where the greeting lies that is {@link #write written}. */
    static long greetingOffset() {
        return GREETING;
    }

    /** Writes the greeting where the peer's agent can READ it. */
    void write(QueueGreeting greeting, QueueMessage header) {
        ByteBuffer buffer =
                words.memory().asSlice(GREETING, greeting.messageBytes()).asByteBuffer();
        greeting.write(header, buffer);
    }

    /**
     * Whether the peer listens, which it is then told of and has to say again. With the lock of whoever posts.
     */
    boolean takeListener() {
        // Partner: the WRITE of Wakes.announce. Between what completed before, whose memory is the peer's, and
        // this look lies a fence: one of both sides sees what the other has written.
        VarHandle.fullFence();
        if ((long) LONG.getAcquire(words.memory(), LISTENS) == 0) {
            return false;
        }
        LONG.setRelease(words.memory(), LISTENS, 0L);
        return true;
    }

    @Override
    public MemoryRegion region() {
        return region;
    }

    /** As {@link ConnectionMemory#own}. Who closes this end meanwhile does not wait for that. */
    @Override
    public MemoryRegion own(SharedFile file) {
        PassingMemory own = withoutInterrupts(() -> PassingMemory.of(tenant, file, EnumSet.of(Access.LOCAL_WRITE)));
        if (!keepOpen(own)) {
            closePart(own);
            throw new VerbsException("registering " + file, Errno.EINVAL, "its connection is closed");
        }
        return own.region();
    }

    /**
     * Whoever carries a connection's first larger payload carries what others have published, too: their connection must not end since that thread is interrupted. Who waits for an agent's
     * process is; so a thread that nobody knows does that.
     */
    private static <T> T withoutInterrupts(Supplier<T> work) {
        CompletableFuture<T> made = new CompletableFuture<>();
        Duration left = Patience.left();
        // Not a virtual one: those who wait for it may have all their carriers.
        Thread.ofPlatform().daemon().name("rackcall-register").start(() -> {
            try {
                made.complete(Patience.within(left, work));
            } catch (Throwable e) {
                made.completeExceptionally(e);
            }
        });
        try {
            // Gives an interrupt back afterwards.
            return made.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            if (e.getCause() instanceof Error cause) {
                throw cause;
            }
            throw e;
        }
    }

    private synchronized boolean keepOpen(PassingMemory own) {
        if (!closed) {
            keep(own);
        }
        return !closed;
    }

    /** In the reverse order of their making. */
    void close() {
        Deque<AutoCloseable> all = new ArrayDeque<>();
        synchronized (this) {
            closed = true;
            all.addAll(made);
            made.clear();
        }
        all.forEach(QueueEnd::closePart);
    }

    private static void closePart(AutoCloseable part) {
        try {
            part.close();
        } catch (Exception e) {
            LOG.warn("a part of a connection over a virtual queue cannot be closed: {}", e.toString());
        }
    }
}
