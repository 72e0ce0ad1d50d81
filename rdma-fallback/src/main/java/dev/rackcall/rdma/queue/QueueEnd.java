package dev.rackcall.rdma.queue;

import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.client.Patience;
import dev.rackcall.rdma.end.EndMemory;
import dev.rackcall.rdma.end.Hello;
import dev.rackcall.rdma.end.PeerMemory;
import dev.rackcall.rpc.spi.CarrierProvider.Memory;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * What one end of a connection has of the tenant: its memory, and a few words beside that, which the peer writes:
 *
 * <pre>
 *    +0 listens: not 0 if the peer wants to be told of the next publication | +64 beat: the peer's clock when it wrote that, to see whether this end is there
 *    +128 seen: what this end has READ last of the peer's listens | +192 greeting, which the peer READs
 * </pre>
 */
final class QueueEnd extends EndMemory {
    static final long LISTENS = 0;
    static final long BEAT = 64;
    static final long SEEN = 128;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    final MemorySegment memory;
    final MemoryRegion region;
    final MemoryRegion words;
    private final Tenant tenant;

    /**
     * Registers the memory.
     *
     * @param helloBytes length of the hello
     * @throws dev.rackcall.cp.ControlPlaneException if the tenant may have no more
     */
    QueueEnd(Tenant tenant, Memory memory, int helloBytes) {
        this.tenant = tenant;
        this.memory = memory.mapped();
        try {
            region = keep(tenant.register(memory.file(), memory.mapped(), PEER));
            words = keep(PassingMemory.make(tenant, "rackcall-words", QueueHello.WORDS_BYTES + helloBytes, PEER))
                    .region();
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** A virtual queue that is closed with this end. */
    VirtualQueue keepQueue(VirtualQueue queue) {
        return keep(queue);
    }

    /** The peer's clock when it has written that last; 0 if it never has. */
    long beat() {
        return (long) LONG.getAcquire(words.memory(), BEAT);
    }

    /** Whether the peer's memory said so, when it was READ last, that this end listens. */
    boolean hasSeenListening() {
        return (long) LONG.getAcquire(words.memory(), SEEN) != 0;
    }

    /**
     * This end's hello.
     *
     * @param number names this end in messages, which arrive at this port
     */
    QueueHello hello(long number, int port, ByteBuffer packet) {
        PeerMemory mine = new PeerMemory(region.address(), region.remoteKey(), memory.byteSize());
        PeerMemory its = new PeerMemory(words.address(), words.remoteKey(), QueueHello.WORDS_BYTES);
        return new QueueHello(number, port, its, Hello.now(mine, packet));
    }

    /** Writes the hello where the peer's agent can READ it. */
    void write(QueueHello hello, QueueMessage header) {
        hello.write(
                header,
                words.memory()
                        .asSlice(QueueHello.WORDS_BYTES, hello.messageBytes())
                        .asByteBuffer());
    }

    /**
     * Whether the peer listens, which it is then told of and has to say again. With the lock of whoever posts.
     */
    boolean takeListener() {
        // Partner: the WRITE of QueueWakeups.announce. Between what completed before, whose memory is the peer's, and
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

    /** As {@link EndMemory#own}. Who closes this end meanwhile does not wait for that. */
    @Override
    public MemoryRegion own(SharedFile file) {
        PassingMemory own = withoutInterrupts(() -> PassingMemory.of(tenant, file, EnumSet.of(Access.LOCAL_WRITE)));
        if (!keepIfOpen(own)) {
            closeQuietly(own);
            throw new VerbsException("registering " + file, VerbsErrno.EINVAL, "its connection is closed");
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
}
