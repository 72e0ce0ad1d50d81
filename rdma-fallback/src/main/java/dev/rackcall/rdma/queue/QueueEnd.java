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
 * One end's memory at the tenant, and a few words that the peer writes:
 *
 * <pre>
 *    +0   listens: not 0 if the peer wants to be told of the next publication
 *    +64  beat: the peer's clock when it wrote this as a sign of life
 *    +128 seen: what this end has READ last of the peer's listens
 *    +192 this end's hello, which the peer READs
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
     * @throws dev.rackcall.cp.ControlPlaneException if the tenant's quota is used up
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

    /** Closes a virtual queue together with this end. */
    VirtualQueue keepQueue(VirtualQueue queue) {
        return keep(queue);
    }

    /** The peer's clock in its last beat; 0 before the first. */
    long beat() {
        return (long) LONG.getAcquire(words.memory(), BEAT);
    }

    /** Whether the last READ of the peer's memory showed that this end listens. */
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
     * Whether the peer listens. Clears the word: the caller notifies the peer, which then has to announce its next
     * sleep. Called with the lock of the carrier.
     */
    boolean takeListener() {
        // Partner: the WRITE of QueueWakeups.announce. The fence orders this look after the completed publication, so
        // either this end sees the word, or the listener sees the publication.
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

    /** As {@link EndMemory#own}. Closing this end does not wait for it. */
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
     * Runs this on another thread, so that an interrupt of the caller does not end the connection. A thread that
     * carries a connection's first large payload also carries publications of other threads, and waits for the agent
     * process.
     */
    private static <T> T withoutInterrupts(Supplier<T> work) {
        CompletableFuture<T> made = new CompletableFuture<>();
        Duration left = Patience.left();
        // A platform thread: the waiting virtual threads may occupy all their carrier threads.
        Thread.ofPlatform().daemon().name("rackcall-register").start(() -> {
            try {
                made.complete(Patience.within(left, work));
            } catch (Throwable e) {
                made.completeExceptionally(e);
            }
        });
        try {
            // Restores an interrupt afterwards.
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
