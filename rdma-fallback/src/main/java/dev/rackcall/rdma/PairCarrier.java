package dev.rackcall.rdma;

import dev.rackcall.rdma.end.ForeignPeerException;
import dev.rackcall.rdma.end.MirrorCarrier;
import dev.rackcall.rdma.end.RequestQueue;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One end of a connection over a queue pair of its own: pieces go by WRITE, publications by WRITE with immediate, which
 * takes a receive request of the peer, numbers by SEND. All are in order. {@link PairReceiver} takes what arrives; it
 * has a lock of its own, and no thread holds both. The TCP connection of the handshake stays open: its end proves that
 * the peer's process is gone.
 */
final class PairCarrier extends MirrorCarrier {
    private static final Logger LOG = LoggerFactory.getLogger(PairCarrier.class);
    private static final int BATCH = 8;
    /** How long a closing end waits for its last requests to arrive. */
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(1);
    /**
     * A probe is sent again after this time, at most {@link #TRIES} times, because a device may lose its completion.
     */
    private static final long TRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final int TRIES = 32;
    private static final long TRY_PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
    /** The pause between two checks for room. */
    private static final long ROOM_PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    private final RdmaDevice device;
    private final Socket socket;
    /** The socket, or TLS over it. */
    private final Socket stream;

    private final PairEnd end;
    private final PairReceiver receiver;
    private long clockAhead;
    /** Whether a thread is posting the pending requests as room becomes free. Guarded by the lock. */
    private boolean draining;

    /**
     * Posting several requests at once takes one system call of the software device, or one doorbell of other devices.
     */
    private static final class PairQueue implements RequestQueue {
        private final QueuePair queuePair;
        private final CompletionQueue completions;
        private long posted;
        /** The number of the last request whose place is known to be free, as are those of all earlier requests. */
        private long done;

        PairQueue(PairEnd end) {
            queuePair = end.queuePair;
            completions = end.sends;
        }

        @Override
        public int post(WorkRequest[] requests, int count) {
            // A device may have more places than were requested, and need not report which are free.
            long room = PairEnd.SENDS - (posted - done);
            int taken = room > 0 ? queuePair.postSend(requests, (int) Math.min(count, room)) : 0;
            posted += taken;
            return taken;
        }

        @Override
        public int poll(Completions batch) {
            int count = completions.poll(batch);
            if (count > 0) {
                done = batch.id(count - 1);
            }
            return count;
        }

        @Override
        public Optional<String> failure() {
            return Optional.empty();
        }
    }

    private PairCarrier(RdmaDevice device, Socket socket, Socket stream, PairEnd end) {
        super(end, new PairQueue(end), BATCH, () -> String.valueOf(socket.getRemoteSocketAddress()));
        this.device = device;
        this.socket = socket;
        this.stream = stream;
        this.end = end;
        this.receiver = new PairReceiver(end, ending);
    }

    /**
     * A carrier for this end with that memory. On success it owns the end, its use of the device, and the socket.
     *
     * @throws VerbsException if the device refuses; the caller keeps the end
     */
    static PairCarrier open(PairEnd end, Socket socket, Socket stream, MemorySegment memory) {
        end.register(memory);
        return new PairCarrier(end.device, socket, stream, end);
    }

    /** For tests that make it fail, like {@link #socket} and {@link #memory}. */
    QueuePair queuePair() {
        return end.queuePair;
    }

    Socket socket() {
        return socket;
    }

    MemorySegment memory() {
        return end.memory;
    }

    // ---- the handshake

    PairHello hello(ByteBuffer packet) {
        return end.hello(packet);
    }

    /**
     * Writes to the peer's memory from now on.
     *
     * @param ahead its clock minus this one's
     */
    void meet(PairHello peer, long ahead) {
        clockAhead = ahead;
        aim(peer.hello().memory());
    }

    /**
     * Connects to the server that has sent this invitation, and writes to the word that it names. Waits until the
     * server's device has acknowledged that, which the handshake over TCP does not show. Called once, before anything
     * else is posted.
     *
     * @throws SilentDeviceException if it does not acknowledge within that time, or the connection has ended
     */
    void prove(PairHello invitation, long nanos) throws SilentDeviceException, ForeignPeerException {
        end.connect(invitation);
        aim(invitation.hello().memory());
        if (!isAcknowledged(nanos)) {
            String why = hasEnded()
                    ? whyEnded()
                    : "nothing came back within " + TimeUnit.NANOSECONDS.toMillis(nanos) + " ms";
            throw device.silence(invitation.gid(), why);
        }
    }

    private boolean isAcknowledged(long nanos) {
        // As in letArrive: the last caller over another connection may just have stopped spinning.
        end.looks.rest();
        long begin = System.nanoTime();
        int tries = 0;
        while (!isDone(1)) {
            long waited = System.nanoTime() - begin;
            if (waited >= nanos || hasEnded()) {
                return false;
            }
            if (tries < TRIES && waited >= tries * TRY_NANOS) {
                locked(() -> out.isAlive() && addProof() && out.flush());
                tries++;
            }
            LockSupport.parkNanos(TRY_PAUSE_NANOS);
        }
        return true;
    }

    private boolean addProof() {
        return out.add(requests.write(0, Long.BYTES).inline(PairHandshake.PROOF).signaled());
    }

    /** Adds a signaled request that changes nothing. */
    private boolean addNothing() {
        return out.add(requests.write(0, 0).from(end.region, 0, 0).signaled());
    }

    @Override
    public long clockAhead() {
        return clockAhead;
    }

    // ---- sending

    @Override
    protected boolean publish(long offset, long value, boolean urgent) {
        lock.lock();
        try {
            if (!out.isAlive()) {
                return false;
            }
            WorkRequest word = requests.announce(offset, value);
            return out.add(urgent ? word.solicited() : word) && out.flush();
        } catch (RuntimeException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    @Override
    public boolean tell(long number) {
        lock.lock();
        try {
            return out.isAlive() && out.add(out.next().send().inline(number).solicited()) && out.flush();
        } catch (RuntimeException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    @Override
    protected boolean wantsHelp() {
        boolean wants = !draining && out.isAlive() && out.isHeldUp();
        draining |= wants;
        return wants;
    }

    @Override
    protected void askForHelp() {
        boolean runs = false;
        try {
            // A platform thread: virtual threads that spin for an answer may occupy all processors and wait for it.
            Thread.ofPlatform().daemon().name("rackcall-rdma-post").start(this::drain);
            runs = true;
        } finally {
            if (!runs) {
                // The host can start no thread. The next thread that posts tries again.
                stopDraining();
            }
        }
    }

    private void stopDraining() {
        lock.lock();
        try {
            draining = false;
        } finally {
            lock.unlock();
        }
    }

    private void drain() {
        boolean more = true;
        while (more) {
            lock.lock();
            try {
                out.drain(System.nanoTime());
            } catch (RuntimeException | Error e) {
                end("posting failed: " + e);
            } finally {
                more = out.isAlive() && out.isHeldUp();
                draining = more;
                lock.unlock();
            }
            if (hasEnded()) {
                tellEnd();
            }
            LockSupport.parkNanos(ROOM_PAUSE_NANOS);
        }
    }

    // ---- receiving

    @Override
    public void start(Arrivals listener) {
        device.add(end.receives, this);
        receiver.start(listener);
    }

    @Override
    public void look() {
        receiver.look();
    }

    @Override
    public void listen() {
        receiver.listen();
    }

    /** As {@link PairReceiver#announced}. */
    void announced() {
        receiver.announced();
    }

    // ---- the end

    /** Starts a thread that waits for the end of the peer's TCP connection. */
    void watch() {
        Thread.ofVirtual().name("rackcall-rdma-watch").start(() -> {
            try {
                stream.setSoTimeout(0);
                int said = stream.getInputStream().read();
                end(said < 0 ? "it has hung up" : "it has said " + said + " where nothing is said");
            } catch (IOException e) {
                end("its connection broke: " + e.getMessage());
            }
            // Deliver first what arrived before the end.
            receiver.announced();
        });
    }

    @Override
    public void tellEnd() {
        receiver.tellEnd();
    }

    @Override
    protected void letArrive() {
        // This thread has read the device's connections while it spun for answers, and does so no more: without this,
        // a software device reads the acknowledgement only milliseconds later.
        end.looks.rest();
        if (addNothing()) {
            out.letArrive(LAST_NANOS);
        }
    }

    private boolean hasFailed() {
        try {
            return end.queuePair.state() == QueuePairState.ERROR;
        } catch (VerbsException e) {
            // A real device that is gone.
            return true;
        }
    }

    @Override
    protected void closeParts() {
        if (hasFailed()) {
            device.doubt();
        }
        end.registerNoMore();
        receiver.close(() -> {
            device.remove(end.receives);
            end.close();
        });
        try {
            socket.close();
        } catch (IOException e) {
            LOG.debug("closing {}: {}", socket, e.toString());
        }
        device.release();
    }
}
