package dev.rackcall.rdma;

import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.shm.os.Mapping;
import dev.rackcall.shm.os.SharedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.Errno;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One end of a reliable connection: whole pieces by WRITE, words by WRITE with immediate, numbers by SEND, all on one queue pair and thereby in order. The TCP connection
 * over which the two ends have met stays open: its end proves that the peer's process is gone.
 *
 * <p>What changes is sent from a {@link Shadow} of the memory, which has what the peer has. Posting takes one lock, so does delivering; only {@link #close} takes both,
 * posting first.
 */
final class RdmaCarrier implements Carrier {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaCarrier.class);
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int SENDS = 256;
    /** Every so often a request is signaled, which gives the places of all before it back. */
    private static final int SIGNAL_EVERY = 16;

    private static final int MAX_PIECE = 1 << 20;
    /** A peer that takes nothing for so long is given up: who posts may be the one thread that serves all others. */
    private static final long STALL_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** How long an end waits for what was posted last to arrive. */
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Code of 0.54 s, and tries: a peer that is stopped for some seconds is only slow. */
    private static final int ACK_TIMEOUT = 17;

    private static final int ACK_TRIES = 6;

    private final RdmaDevice device;
    private final Socket socket;
    private final MemorySegment memory;
    private final Deque<AutoCloseable> made = new ArrayDeque<>();
    private final ProtectionDomain domain;
    private final MemoryRegion region;
    private final MemorySegment notices;
    private final MemoryRegion noticeRegion;
    private final CompletionQueue sends;
    private final CompletionQueue receives;
    private final QueuePair queuePair;
    private final int firstPacket = RANDOM.nextInt(1 << 24);
    private final AtomicBoolean over = new AtomicBoolean();
    private long clockAhead;
    private long peerAddress;
    private int peerKey;
    private boolean connected;
    private long peerBytes;

    // Who posts.
    private final ReentrantLock posting = new ReentrantLock();
    private final WorkRequest request = WorkRequest.create(1, Long.BYTES);
    private final Completions sent = Completions.create(16);
    private long posted;
    private long completed;
    private long carriedBytes;
    /** Null until something is sent from it. */
    private Shadow shadow;

    private MemoryRegion shadowRegion;

    // Who delivers.
    private final ReentrantLock delivering = new ReentrantLock();
    private final Completions arrived = Completions.create(64);
    private final ReceiveRequest receive = ReceiveRequest.create(1);
    /** Null until somebody listens. */
    private Arrivals arrivals;

    private boolean endTold;
    private volatile boolean ended;
    private volatile boolean closed;

    private RdmaCarrier(RdmaDevice device, Socket socket, MemorySegment memory, int publications) {
        this.device = device;
        this.socket = socket;
        this.memory = memory;
        try {
            // A SEND for each number that is told comes on top of what is published.
            int depth = publications + SIGNAL_EVERY;
            // Its own, so that the keys of other connections are worth nothing here.
            domain = keep(device.context().allocateProtectionDomain());
            region = keep(domain.register(memory, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE)));
            Arena arena = keep(Arena.ofShared());
            notices = arena.allocate((long) depth * Long.BYTES, Long.BYTES);
            noticeRegion = keep(domain.register(notices, EnumSet.of(Access.LOCAL_WRITE)));
            sends = keep(device.context().createCompletionQueue(CompletionQueueSpec.of(SENDS)));
            receives = keep(device.context()
                    .createCompletionQueue(CompletionQueueSpec.of(depth).on(device.channel())));
            queuePair = keep(domain.createQueuePair(QueuePairSpec.of(QueuePairType.RC, sends)
                    .withReceiveQueue(receives)
                    .withDepth(SENDS, depth)
                    .withInline(Long.BYTES)));
            queuePair.toInit(InitAttributes.connected(EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE)));
            for (int i = 0; i < depth; i++) {
                postReceive(i);
            }
        } catch (RuntimeException | Error e) {
            closeParts();
            throw e;
        }
    }

    private <T extends AutoCloseable> T keep(T part) {
        made.push(part);
        return part;
    }

    /**
     * An end that is not connected yet. It owns the socket and one use of the device only when it was made.
     *
     * @param publications as in {@link dev.rackcall.rpc.spi.CarrierProvider#connect}
     * @throws VerbsException if the device refuses
     */
    static RdmaCarrier open(RdmaDevice device, Socket socket, MemorySegment memory, int publications) {
        return new RdmaCarrier(device, socket, memory, publications);
    }

    /** For those who want to see it fail. */
    QueuePair queuePair() {
        return queuePair;
    }

    /** As {@link #queuePair}: over which the ends have met. */
    Socket socket() {
        return socket;
    }

    PeerGreeting greeting(ByteBuffer packet) {
        return new PeerGreeting(
                device.gid(),
                queuePair.number(),
                firstPacket,
                region.address(),
                region.remoteKey(),
                memory.byteSize(),
                System.nanoTime(),
                packet);
    }

    /**
     * Connects to the peer that has sent this.
     *
     * @param ahead its clock less this one's
     */
    void connect(PeerGreeting peer, long ahead) throws ForeignPeerException {
        clockAhead = ahead;
        peerAddress = peer.address();
        peerKey = peer.key();
        peerBytes = peer.bytes();
        try {
            AddressVector path = AddressVector.of(peer.gid(), device.gidIndex());
            queuePair.toReadyToReceive(
                    ReadyToReceive.from(path, peer.queuePair()).withFirstPacket(peer.firstPacket()));
            queuePair.toReadyToSend(
                    ReadyToSend.defaults().withFirstPacket(firstPacket).withRetries(ACK_TIMEOUT, ACK_TRIES));
            connected = true;
        } catch (VerbsException e) {
            throw new ForeignPeerException("its queue pair cannot be reached by "
                    + device.context().device().name() + ": " + e.getMessage());
        }
    }

    @Override
    public long clockAhead() {
        return clockAhead;
    }

    // ---- posting

    /** What is posted under the lock. */
    @FunctionalInterface
    private interface Posting {
        boolean post();
    }

    private boolean posting(Posting requests) {
        posting.lock();
        try {
            return !ended && !closed && requests.post();
        } catch (VerbsException e) {
            // The queue pair has gone to the error state.
            end("posting failed: " + e.getMessage());
            return false;
        } finally {
            posting.unlock();
            if (ended) {
                deliver();
            }
        }
    }

    private WorkRequest write(long offset, long length) {
        if (offset < 0 || length < 0 || offset > memory.byteSize() - length) {
            throw new IndexOutOfBoundsException(
                    length + " bytes at " + offset + " are not in memory of " + memory.byteSize());
        }
        if (offset > peerBytes - length) {
            throw new VerbsException(
                    "writing " + length + " bytes at " + offset,
                    Errno.EINVAL,
                    "the peer has only " + peerBytes + " bytes, fewer than the connection needs");
        }
        return request.write(peerAddress + offset, peerKey);
    }

    private boolean post(WorkRequest one) {
        posted++;
        one.id(posted);
        if (posted % SIGNAL_EVERY == 0) {
            one.signaled();
        }
        long stalled = 0;
        while (posted - completed > SENDS || !queuePair.postSend(one)) {
            reap();
            if (ended || closed) {
                return false;
            }
            long now = System.nanoTime();
            if (stalled == 0) {
                stalled = now;
            } else if (now - stalled > STALL_NANOS) {
                end("it has taken nothing for " + TimeUnit.NANOSECONDS.toMillis(STALL_NANOS) + " ms");
                return false;
            }
            Thread.onSpinWait();
        }
        return true;
    }

    private void reap() {
        int count = sends.poll(sent);
        for (int i = 0; i < count; i++) {
            if (sent.isSuccess(i)) {
                completed = sent.id(i);
            } else {
                end("a request ended with " + sent.status(i));
            }
        }
    }

    @Override
    public boolean carry(long offset, long length) {
        return posting(() -> pieces(region, offset, length));
    }

    private boolean pieces(MemoryRegion from, long offset, long length) {
        boolean alive = true;
        for (long done = 0; done < length && alive; done += MAX_PIECE) {
            int piece = (int) Math.min(MAX_PIECE, length - done);
            alive = post(write(offset + done, piece).from(from, offset + done, piece));
        }
        return alive;
    }

    @Override
    public boolean carryChanged(long offset, long length) {
        return posting(() -> {
            Shadow copy = shadow();
            long start = offset & -Long.BYTES;
            carriedBytes += copy.update(
                    start,
                    Math.min(length + (offset - start), memory.byteSize() - start),
                    (at, bytes) -> pieces(shadowRegion, at, bytes));
            return !ended;
        });
    }

    /** Bytes that {@link #carryChanged} has found changed and sent. */
    long carriedBytes() {
        posting.lock();
        try {
            return carriedBytes;
        } finally {
            posting.unlock();
        }
    }

    /** Both ends begin with memory that is all zero, as a new file is. */
    private Shadow shadow() {
        if (shadow == null) {
            SharedFile file = keep(SharedFile.memfd("rackcall-shadow", memory.byteSize()));
            Mapping mapping = keep(file.map());
            shadowRegion = keep(domain.register(mapping.memory(), EnumSet.of(Access.LOCAL_WRITE)));
            shadow = Shadow.of(memory, mapping.memory());
        }
        return shadow;
    }

    @Override
    public boolean store(long offset, long value) {
        return posting(() -> post(write(offset, Long.BYTES).inline(value)));
    }

    @Override
    public boolean publish(long offset, long value) {
        return posting(() -> {
            write(offset, Long.BYTES);
            return post(
                    request.writeWithImmediate(peerAddress + offset, peerKey, 0).inline(value));
        });
    }

    @Override
    public boolean tell(long number) {
        return posting(() -> post(request.send().inline(number)));
    }

    // ---- delivering

    @Override
    public void start(Arrivals listener) {
        delivering.lock();
        try {
            arrivals = listener;
            device.add(receives, this);
        } finally {
            delivering.unlock();
        }
        deliver();
    }

    /** Takes what has arrived. The device's thread, and whoever starts. */
    void deliver() {
        deliver(false);
    }

    /** As {@link #deliver}, and lets whoever sleeps look at the memory: a completion that was lost cannot keep anybody asleep. The device's thread. */
    void remind() {
        deliver(true);
    }

    private void deliver(boolean reminding) {
        delivering.lock();
        try {
            if (closed || arrivals == null) {
                return;
            }
            // First, so that what comes behind the last look is announced.
            receives.requestNotification(false);
            boolean published = reminding;
            for (int count = receives.poll(arrived); count > 0; count = receives.poll(arrived)) {
                for (int i = 0; i < count; i++) {
                    published |= take(i);
                }
            }
            if (published) {
                arrivals.published();
            }
        } catch (VerbsException e) {
            end("receiving failed: " + e.getMessage());
        } finally {
            delivering.unlock();
        }
        tellEnd();
    }

    /** Returns whether something was published. */
    private boolean take(int i) {
        if (!arrived.isSuccess(i)) {
            end("receiving ended with " + arrived.status(i));
            return false;
        }
        long id = arrived.id(i);
        boolean published = arrived.hasImmediate(i);
        if (!published) {
            arrivals.told(notices.get(ValueLayout.JAVA_LONG, id * Long.BYTES));
        }
        postReceive(id);
        return published;
    }

    private void postReceive(long id) {
        if (!queuePair.postReceive(receive.start(id).into(noticeRegion, id * Long.BYTES, Long.BYTES))) {
            throw new IllegalStateException("the receive queue is full, though nobody else fills it");
        }
    }

    // ---- the end

    /** Waits for the end of the peer's TCP connection, on a thread of its own. */
    void watch() {
        Thread.ofVirtual().name("rackcall-rdma-watch").start(() -> {
            try {
                socket.setSoTimeout(0);
                int said = socket.getInputStream().read();
                end(said < 0 ? "it has hung up" : "it has said " + said + " where nothing is said");
            } catch (IOException e) {
                end("its connection broke: " + e.getMessage());
            }
            // What it said before it went comes first.
            deliver();
        });
    }

    private void end(String why) {
        if (!ended && !closed) {
            LOG.debug("the peer at {} is gone: {}", socket.getRemoteSocketAddress(), why);
        }
        ended = true;
    }

    private void tellEnd() {
        if (!ended || closed) {
            return;
        }
        delivering.lock();
        try {
            if (arrivals != null && !endTold && !closed) {
                endTold = true;
                arrivals.ended();
            }
        } finally {
            delivering.unlock();
        }
    }

    @Override
    public void close() {
        if (!over.compareAndSet(false, true)) {
            return;
        }
        posting.lock();
        try {
            letArrive();
        } finally {
            closed = true;
            posting.unlock();
        }
        posting.lock();
        delivering.lock();
        try {
            closeAll();
        } finally {
            delivering.unlock();
            posting.unlock();
        }
        device.release();
    }

    /** What was posted before the end is still to arrive: a last answer, a call that wants none. */
    private void letArrive() {
        try {
            if (ended || !connected || !post(write(0, 0).from(region, 0, 0).signaled())) {
                return;
            }
            long end = System.nanoTime() + LAST_NANOS;
            while (completed < posted && !ended && System.nanoTime() - end < 0) {
                reap();
                Thread.onSpinWait();
            }
        } catch (VerbsException e) {
            LOG.debug("the end of a connection finds its queue pair gone: {}", e.getMessage());
        }
    }

    private void closeAll() {
        device.remove(receives);
        // Before the memory that it reads from.
        queuePair.close();
        made.remove(queuePair);
        closeParts();
        try {
            socket.close();
        } catch (IOException e) {
            LOG.debug("closing {}: {}", socket, e.toString());
        }
    }

    /** In the reverse order of their making. */
    private void closeParts() {
        while (!made.isEmpty()) {
            try {
                made.pop().close();
            } catch (Exception e) {
                LOG.warn("a part of a connection over RDMA cannot be closed: {}", e.toString());
            }
        }
    }
}
