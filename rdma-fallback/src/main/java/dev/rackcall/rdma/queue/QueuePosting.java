package dev.rackcall.rdma.queue;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.rdma.sending.PeerMemory;
import dev.rackcall.rdma.sending.Sending;
import java.util.concurrent.TimeUnit;

/**
 * Sends over a virtual queue: a publication is a WRITE, a number that is told one of the {@link Notes}; {@link Wakes} says how a peer that sleeps hears of either. What is to be done a little later, whether
 * because there was no room or because something has arrived, the {@link Exchange}'s thread does.
 */
final class QueuePosting extends Sending {
    /** How long an end waits for what was posted last to arrive. */
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** How long who begins to listen waits for the peer to have heard of it. If that takes longer he is woken then, without need mostly. */
    private static final long LISTEN_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    private final Exchange exchange;
    private final QueueCarrier carrier;
    private final QueueEnd end;
    private final VirtualQueue queue;
    private final boolean movedByLooks;
    private final Notes notes;
    private final Wakes wakes;
    private final Attention attention = new Attention();
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
        super(carrier, end, new VirtualSends(queue), 1);
        this.exchange = exchange;
        this.carrier = carrier;
        this.end = end;
        this.queue = queue;
        movedByLooks = queue.isMovedByLooks();
        notes = new Notes(carrier, noteQueue, notePort);
        wakes = new Wakes(end, out, notes);
    }

    /** Where to write. Before anything is posted. */
    void connect(QueueGreeting peer) {
        lock.lock();
        try {
            aim(new PeerMemory(peer.address(), peer.key(), peer.bytes()));
            notes.to(peer);
            wakes.connect(peer);
        } finally {
            lock.unlock();
        }
    }

    // ---- what can be posted; false if the peer is gone

    @Override
    public boolean publish(long offset, long value, boolean urgent) {
        lock.lock();
        try {
            if (!out.isAlive()
                    || !out.add(requests.write(offset, Long.BYTES).inline(value).signaled())) {
                return false;
            }
            wakes.published(urgent);
            return out.isAlive();
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
            if (out.isAlive()) {
                if (out.signaled() < out.added()) {
                    wakes.beat();
                }
                notes.add(QueueMessage.TOLD, number, out.signaled(), out.completed());
            }
            return out.isAlive();
        } catch (RuntimeException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    // ---- meeting

    /** Sends this end's greeting, which lies where the end has it. */
    void greet(int length) {
        locked(() -> {
            if (out.isAlive()) {
                notes.greet(end.words, length, out.completed());
            }
            return true;
        });
    }

    /** Whether the peer's process has taken all messages so far. */
    boolean isHeard() {
        return locked(() -> {
            notes.step(out.completed());
            return notes.areTaken();
        });
    }

    /**
     * Writes what shows whether the peer has the memory that its greeting names. Waits for the peer's table of regions, two seconds at most.
     *
     * @return the number of the request, for {@link #isDone}
     */
    long probe() {
        lock.lock();
        try {
            addProbe();
            return out.signaled();
        } catch (RuntimeException e) {
            failed(e);
            return FAILED;
        } finally {
            leave();
        }
    }

    /** Both of the peer's regions are asked for. The memory by no bytes, since what could be written into is the peer's to say. */
    private void addProbe() {
        out.add(requests.touch().from(end.region, 0, 0));
        wakes.beat();
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
                if (!wakes.isSettled() && out.isAlive()) {
                    reap();
                }
            } catch (RuntimeException e) {
                failed(e);
            } finally {
                leave();
            }
        }
    }

    @Override
    protected void reap() {
        super.reap();
        wakes.settle();
        notes.step(out.completed());
    }

    /**
     * Tells the peer that somebody sleeps from now on.
     *
     * @param heard how often the peer has rung
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
                request = request == FAILED ? wakes.announce(heard) : request;
                reap();
                if (out.completed() >= request) {
                    return;
                }
                if (System.nanoTime() - begin >= LISTEN_NANOS) {
                    wakes.isLate();
                    return;
                }
            } catch (RuntimeException e) {
                failed(e);
                return;
            } finally {
                leave();
            }
            Thread.onSpinWait();
        }
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
                carrier.lookAtClock();
                out.drain(now);
                reap();
            }
            attention.tick(isBusy());
            return wakes.takeLate();
        } catch (RuntimeException e) {
            failed(e);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Whether it is to be attended again; if not, it asks for that itself when it needs it. Waits for nobody. */
    boolean isAttended() {
        return attention.isGiven();
    }

    private boolean isBusy() {
        return out.isAlive() && (!wakes.isSettled() || out.isHeldUp() || notes.areUnderWay());
    }

    @Override
    protected boolean wantsHelp() {
        return !attention.isGiven() && attention.mustBeAskedFor(isBusy());
    }

    @Override
    protected void askForHelp() {
        exchange.attend(carrier);
    }

    /**
     * Asks the peer for a sign of life, unless something is under way that shows the same, and keeps both its regions known by that, so that nobody who posts has to ask for them. Waits for its
     * table of regions if it comes too late for that.
     *
     * @param forget that the peer was told that somebody sleeps: in case a ring was lost
     */
    void beat(boolean forget) {
        locked(() -> {
            if (forget) {
                wakes.forget();
            }
            if (out.isAlive()) {
                carrier.lookAtClock();
            }
            if (out.isAlive() && requests.areAimed() && wakes.isSettled()) {
                addProbe();
            }
            return true;
        });
    }

    // ---- the end

    @Override
    protected boolean isFailure(RuntimeException e) {
        return e instanceof ControlPlaneException || super.isFailure(e);
    }

    @Override
    protected void failing(RuntimeException cause) {
        if (Farewell.value(cause) != 0) {
            carrier.lacksSomething();
        }
        if (requests.areAimed() && out.isAlive()) {
            notes.sayFarewell(cause, out.completed());
        }
    }

    /** As {@link Sending#close}; then the peer hears of the end. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (requests.areAimed() && out.isAlive()) {
                wakes.beat();
                out.letArrive(LAST_NANOS);
                if (out.isAlive()) {
                    notes.add(QueueMessage.BYE, 0, 0, out.completed());
                }
            }
        } catch (RuntimeException e) {
            failed(e);
        } finally {
            out.close();
            lock.unlock();
        }
    }
}
