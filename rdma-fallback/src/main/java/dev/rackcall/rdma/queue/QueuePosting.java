package dev.rackcall.rdma.queue;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.rdma.Shadow;
import dev.rackcall.shm.os.SharedFile;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sending half of a carrier: WRITEs and READs in order, by whichever thread, under one lock, and the messages that go with them.
 *
 * <p>A publication must wake a peer that sleeps, and queue pairs that many share take no WRITE that announces itself. So whoever is about to sleep WRITEs a word at the peer, that it {@link #listen
 * listens}, and then looks at the memory once more; whoever publishes looks at that word, and RINGs by a message if it is set: at once, behind the publication, and once more when that has arrived.
 * Either the one sees the word, or the other the publication, as long as both look when what they have written is there. So somebody must look when a publication has arrived: whoever
 * uses the carrier next, or else the {@link Exchange}'s thread, a little later.
 *
 * <p>That a WRITE is done says that the peer's device has it, not that the peer's processor would see it: the device's own writes into that memory may still be on their way. So who listens READs the word behind the WRITE: the
 * peer's device cannot read it before it is there, so that whoever publishes sees it from then on. A publication whose publisher looked before that, and missed it, was acknowledged before the answer to that READ set out; the
 * device here wrote it before that answer, and its writes are seen in their order. So who listens sees it when the READ is done. That holds for devices that keep PCIe's order of writes, which is what memory is registered for here.
 */
final class QueuePosting implements Shadow.Pieces {
    private static final Logger LOG = LoggerFactory.getLogger(QueuePosting.class);
    private static final int MAX_PIECE = 1 << 20;
    /** How long an end waits for what was posted last to arrive. */
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** How long who begins to listen waits for the peer to have heard of it. If that takes longer he is woken then, without need mostly. */
    private static final long LISTEN_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    /** So often whoever fetches looks before he pauses between his looks: a peer that stands still does not take a processor. */
    private static final int FETCH_LOOKS = 5000;

    private static final long FETCH_PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    /** Ticks of the exchange's thread for which it goes on looking after a carrier that needs it no more: a busy one is not to wake it for each call. */
    private static final int LINGER_TICKS = 40;

    /** Stands for a request that was not posted. */
    private static final long FAILED = -1;

    private final Exchange exchange;
    private final QueueCarrier carrier;
    private final QueueEnd end;
    private final VirtualQueue queue;
    private final boolean movedByLooks;
    private final ReentrantLock lock = new ReentrantLock();
    private final Outflow out;
    private final Notes notes;
    private QueueGreeting peer;
    private long carriedBytes;
    /** Null until something is sent from it. */
    private Shadow shadow;

    private MemoryRegion shadowRegion;
    /** Null until something is to be fetched. */
    private MemoryRegion areaRegion;

    private long fetchedBytes;
    /** The last request whose arrival matters, and up to which it was seen to. */
    private long published;

    private long settled;
    /** The last publication, which a peer that sleeps is to hear of. */
    private long news;
    /** The request that has told the peer that this end listens; and what had been heard of the peer before. */
    private long listening;

    private long heardBefore;
    private boolean listens;
    /** Whoever listens sleeps by now, and is woken when {@link #listening} is done. */
    private boolean isLate;

    /** The exchange's thread looks after this carrier. Written with the lock; read without it, since that thread waits for nobody who posts. */
    private volatile boolean attended;

    /** For so many ticks more. */
    private int ticks;
    /** Of the exchange, when this was last looked at. */
    private long looksSeen;

    /** @param notePort where the peer's process hears what comes before it has said so itself */
    QueuePosting(
            Exchange exchange,
            QueueCarrier carrier,
            QueueEnd end,
            VirtualQueue queue,
            VirtualQueue noteQueue,
            int notePort) {
        this.exchange = exchange;
        this.queue = queue;
        movedByLooks = queue.isMovedByLooks();
        this.carrier = carrier;
        this.end = end;
        this.out = new Outflow(carrier, queue);
        this.notes = new Notes(carrier, noteQueue, notePort);
    }

    /** Where to write. Before anything is posted. */
    void connect(QueueGreeting greeting) {
        lock.lock();
        try {
            peer = greeting;
            notes.to(greeting.port());
        } finally {
            lock.unlock();
        }
    }

    // ---- what can be posted; false if the peer is gone

    boolean carry(long offset, long length) {
        lock.lock();
        try {
            return out.isAlive() && pieces(end.region, offset, length);
        } catch (ControlPlaneException | VerbsException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    boolean carryChanged(long offset, long length) {
        lock.lock();
        try {
            if (!out.isAlive()) {
                return false;
            }
            makeShadow();
            long start = offset & -Long.BYTES;
            long room = end.memory.byteSize() - start;
            carriedBytes += shadow.update(start, Math.min(length + (offset - start), room), this);
            return out.isAlive();
        } catch (ControlPlaneException | VerbsException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    boolean store(long offset, long value) {
        lock.lock();
        try {
            return out.isAlive() && out.add(write(offset, Long.BYTES).inline(value));
        } catch (ControlPlaneException | VerbsException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    boolean publish(long offset, long value, boolean urgent) {
        lock.lock();
        try {
            if (!out.isAlive()
                    || !out.add(write(offset, Long.BYTES).inline(value).signaled())) {
                return false;
            }
            published = out.added();
            news = published;
            if (urgent) {
                // Of nobody who listens it would be seen later that the message came too early.
                notes.add(message(QueueMessage.RING, 0), published, out.completed());
            }
            ring();
            return out.isAlive();
        } catch (ControlPlaneException | VerbsException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    /** If the peer listens. The message mostly travels behind what was published last. */
    private void ring() {
        if (end.takeListener()) {
            notes.add(message(QueueMessage.RING, 0), 0, out.completed());
        }
    }

    boolean tell(long number) {
        lock.lock();
        try {
            if (out.isAlive()) {
                notes.add(message(QueueMessage.TOLD, number), lastSignaled(), out.completed());
            }
            return out.isAlive();
        } catch (ControlPlaneException | VerbsException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    private QueueMessage message(int kind, long value) {
        return new QueueMessage(kind, peer.number(), value);
    }

    /** A request whose end is known, behind all that was added. */
    private long lastSignaled() {
        if (published < out.added()) {
            beat();
        }
        return published;
    }

    /** Of no bytes: what it would write into is the peer's to say. Its table of regions is asked for it. */
    private void touchMemory() {
        out.add(out.next().write(peer.address() + peer.bytes(), peer.key()).from(end.region, 0, 0));
    }

    private void beat() {
        out.add(out.next()
                .write(peer.words() + QueueEnd.BEAT, peer.wordsKey())
                .inline(System.nanoTime())
                .signaled());
        published = out.added();
    }

    /** What was carried and stored is on its way already. */
    boolean flush() {
        lock.lock();
        try {
            return out.isAlive();
        } finally {
            leave();
        }
    }

    // ---- meeting

    /** Sends this end's greeting, which lies where the end has it. */
    void greet(int length) {
        lock.lock();
        try {
            if (out.isAlive()) {
                notes.greet(end.words, length, out.completed());
            }
        } catch (ControlPlaneException | VerbsException e) {
            failed(e);
        } finally {
            leave();
        }
    }

    /** Whether the peer's process has taken all messages so far. */
    boolean isHeard() {
        lock.lock();
        try {
            notes.step(out.completed());
            return notes.areTaken();
        } catch (ControlPlaneException | VerbsException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    /**
     * Writes what shows whether the peer has the memory that its greeting names. Waits for the peer's table of regions, two seconds at most.
     *
     * @return the number of the request, for {@link #isDone}
     */
    long probe() {
        lock.lock();
        try {
            touchMemory();
            beat();
            return published;
        } catch (ControlPlaneException | VerbsException e) {
            failed(e);
            return FAILED;
        } finally {
            leave();
        }
    }

    /** Whether a request that is known of is done; false also if the peer is gone. */
    boolean isDone(long request) {
        lock.lock();
        try {
            settle();
            return out.isAlive() && request != FAILED && out.completed() >= request;
        } catch (ControlPlaneException | VerbsException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    // ---- fetching

    void fetchInto(SharedFile area) {
        lock.lock();
        try {
            if (out.isAlive()) {
                areaRegion = end.own(area);
            }
        } catch (ControlPlaneException | VerbsException e) {
            failed(e);
        } finally {
            leave();
        }
    }

    boolean fetch(long offset, long areaOffset, long length, long deadline) {
        long last = request(offset, areaOffset, length);
        int looks = 0;
        while (last != FAILED && !isDone(last)) {
            if (carrier.hasEnded() || System.nanoTime() - deadline >= 0) {
                return false;
            }
            carrier.look();
            if (++looks < FETCH_LOOKS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(FETCH_PAUSE_NANOS);
            }
        }
        return last != FAILED && !carrier.hasEnded();
    }

    /** Returns the number of the last READ, or {@link #FAILED}. */
    private long request(long offset, long areaOffset, long length) {
        lock.lock();
        try {
            for (long done = 0; done < length && out.isAlive(); done += MAX_PIECE) {
                int piece = (int) Math.min(MAX_PIECE, length - done);
                check(offset + done, piece);
                WorkRequest read = out.next()
                        .read(peer.address() + offset + done, peer.key())
                        .from(areaRegion, areaOffset + done, piece);
                out.add(done + piece == length ? read.signaled() : read);
            }
            fetchedBytes += length;
            published = out.added();
            return out.isAlive() ? published : FAILED;
        } catch (ControlPlaneException | VerbsException e) {
            failed(e);
            return FAILED;
        } finally {
            leave();
        }
    }

    long fetchedBytes() {
        lock.lock();
        try {
            return fetchedBytes;
        } finally {
            lock.unlock();
        }
    }

    /** Bytes that {@link #carryChanged} has found changed and sent. */
    long carriedBytes() {
        lock.lock();
        try {
            return carriedBytes;
        } finally {
            lock.unlock();
        }
    }

    // ---- looking and listening

    /** Whether a look can bring anything forward. */
    boolean isMovedByLooks() {
        return movedByLooks;
    }

    /** Moves the device's traffic, and sees to what was published, if nobody else does. By a thread that spins. */
    void look() {
        if (lock.tryLock()) {
            try {
                // Of many connections that a thread looks at in turn the first moves the traffic of all.
                if (movedByLooks && exchange.looks() == looksSeen) {
                    exchange.looking();
                    queue.look();
                }
                looksSeen = exchange.looks();
                if (settled < published && out.isAlive()) {
                    settle();
                }
            } catch (ControlPlaneException | VerbsException e) {
                failed(e);
            } finally {
                leave();
            }
        }
    }

    /** Takes completions; of a peer that listens by now it is not known whether it has seen what has arrived. */
    private void settle() {
        out.reap();
        // Not only what was reaped here: whoever makes room takes completions, too.
        if (out.completed() != settled) {
            boolean mayBeNews = settled < news;
            settled = out.completed();
            // A sign of life wakes nobody.
            if (mayBeNews && peer != null && out.isAlive()) {
                ring();
            }
        }
        notes.step(out.completed());
    }

    /**
     * Tells the peer that somebody sleeps from now on.
     *
     * @param heard how often the peer has rung; if it has not since it was told last, it still knows
     */
    void listen(long heard) {
        long begin = System.nanoTime();
        long request = FAILED;
        while (true) {
            lock.lock();
            try {
                if (!out.isAlive()) {
                    return;
                }
                if (request == FAILED) {
                    request = announce(heard);
                }
                settle();
                if (out.completed() >= request) {
                    return;
                }
                if (System.nanoTime() - begin >= LISTEN_NANOS) {
                    isLate = true;
                    return;
                }
            } catch (ControlPlaneException | VerbsException e) {
                failed(e);
                return;
            } finally {
                leave();
            }
            Thread.onSpinWait();
        }
    }

    private long announce(long heard) {
        if (!listens || heard != heardBefore) {
            listens = true;
            heardBefore = heard;
            // Partner: QueueEnd.takeListener, which looks when a publication has arrived.
            out.add(out.next()
                    .write(peer.words() + QueueEnd.LISTENS, peer.wordsKey())
                    .inline(1));
            out.add(out.next()
                    .read(peer.words() + QueueEnd.LISTENS, peer.wordsKey())
                    .from(end.words, QueueEnd.SEEN, Long.BYTES)
                    .signaled());
            listening = out.added();
            published = listening;
        }
        return listening;
    }

    // ---- the exchange's threads

    /**
     * Does what has to be done a little later.
     *
     * @return whether whoever sleeps is to look at the memory
     */
    boolean attend(long now) {
        if (!lock.tryLock()) {
            return false;
        }
        try {
            if (out.isAlive()) {
                out.drain(now);
                settle();
            }
            if (isBusy()) {
                ticks = LINGER_TICKS;
                // It may be in the thread's list twice for a while, and the other time was found quiet.
                attended = true;
            } else if (--ticks < 0) {
                attended = false;
            }
            boolean wake = isLate && out.completed() >= listening;
            isLate &= !wake;
            return wake;
        } catch (ControlPlaneException | VerbsException e) {
            failed(e);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Whether it is to be attended again; if not, it asks for that itself when it needs it. Waits for nobody. */
    boolean isAttended() {
        return attended;
    }

    private boolean isBusy() {
        return out.isAlive() && (settled < published || out.areWaiting() || notes.areUnderWay());
    }

    /**
     * Asks the peer for a sign of life, unless something is under way that shows the same, and keeps both its regions known by that, so that nobody who posts has to ask for them. Waits for its
     * table of regions if it comes too late for that.
     *
     * @param forget that the peer was told that somebody sleeps: in case a ring was lost
     */
    void beat(boolean forget) {
        lock.lock();
        try {
            listens &= !forget;
            if (out.isAlive() && peer != null && settled >= published) {
                touchMemory();
                beat();
            }
        } catch (ControlPlaneException | VerbsException e) {
            failed(e);
        } finally {
            leave();
        }
    }

    // ---- with the lock

    /** The queue has gone to its error state; or this side lacks something, which the peer is told. */
    private boolean failed(RuntimeException e) {
        long farewell = Farewell.value(e);
        if (farewell != 0 && peer != null && out.isAlive()) {
            try {
                notes.add(message(QueueMessage.BYE, farewell), 0, out.completed());
            } catch (ControlPlaneException | VerbsException cannotBeTold) {
                LOG.debug("{} does not hear why its connection ends", carrier.host(), cannotBeTold);
            }
        }
        carrier.end(e.getMessage());
        return false;
    }

    private void leave() {
        boolean asks = false;
        if (!attended && isBusy()) {
            attended = true;
            ticks = LINGER_TICKS;
            asks = true;
        }
        lock.unlock();
        if (asks) {
            carrier.askForAttention();
        }
        if (carrier.hasEnded()) {
            carrier.tellEnd();
        }
    }

    /** Both ends begin with memory that is all zero, as a new file is. */
    private void makeShadow() {
        if (shadow == null) {
            shadowRegion = end.twin();
            shadow = Shadow.of(end.memory, shadowRegion.memory());
        }
    }

    @Override
    public void add(long offset, long length) {
        // A peer that is gone is noticed by whoever looks for changes.
        if (out.isAlive() && !pieces(shadowRegion, offset, length)) {
            assert !out.isAlive();
        }
    }

    private boolean pieces(MemoryRegion from, long offset, long length) {
        boolean alive = true;
        for (long done = 0; done < length && alive; done += MAX_PIECE) {
            int piece = (int) Math.min(MAX_PIECE, length - done);
            alive = out.add(write(offset + done, piece).from(from, offset + done, piece));
        }
        return alive;
    }

    private WorkRequest write(long offset, long length) {
        check(offset, length);
        return out.next().write(peer.address() + offset, peer.key());
    }

    private void check(long offset, long length) {
        long bytes = end.memory.byteSize();
        if (offset < 0 || length < 0 || offset > bytes - length) {
            throw new IndexOutOfBoundsException(
                    length + " bytes at " + offset + " are not in memory of " + bytes + " bytes");
        }
    }

    // ---- the end

    /** Posts nothing any more. What was posted before is still to arrive: a last answer, a call that wants none. Then the peer hears of the end. */
    void close() {
        lock.lock();
        try {
            if (peer != null && out.isAlive()) {
                beat();
                out.letArrive(LAST_NANOS);
                if (out.isAlive()) {
                    notes.add(message(QueueMessage.BYE, 0), 0, out.completed());
                }
            }
        } catch (ControlPlaneException | VerbsException e) {
            failed(e);
        } finally {
            out.close();
            lock.unlock();
        }
    }
}
