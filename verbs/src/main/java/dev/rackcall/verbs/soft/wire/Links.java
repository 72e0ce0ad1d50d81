package dev.rackcall.verbs.soft.wire;

import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * The open links of a device, and which thread reads them. A thread that polls a completion queue busily reads the
 * links itself, which spares the event loop its wake-ups. If no thread has polled for a tick, the event loop reads
 * again: one-sided requests never depend on the program.
 */
public final class Links {
    private static final long TICK_NANOS = 2_000_000;
    /** Polls this close to each other are busy ones. */
    private static final long BUSY_NANOS = 20_000;
    /**
     * Busy polls in a row before polling threads take over. A thread that polls only now and then must not take
     * over: no thread would read until its next poll.
     */
    private static final int BUSY_POLLS = 8;

    private final EventLoop eventLoop;
    private final BufferPool buffers = new BufferPool();
    /** Replaced, never changed: polling threads iterate over it without an iterator. */
    private volatile Link[] open = {};

    private final AtomicLong polls = new AtomicLong();
    // Hints, written by all polling threads. A lost update delays a change of the reading thread by some polls.
    private long lastPoll = System.nanoTime();
    private int busyPolls;
    /** Whether polling threads read. Changed with this object's monitor, so all links see the same order. */
    private volatile boolean polled;
    /** Number of times that polling threads have taken over. With the monitor. */
    private long terms;
    /** Value of {@code polls} at the last tick. Used only by the event loop. */
    private long seen;

    public Links(EventLoop eventLoop) {
        this.eventLoop = eventLoop;
    }

    public BufferPool buffers() {
        return buffers;
    }

    public void execute(Runnable task) {
        eventLoop.execute(task);
    }

    /** Runs a task on the event loop after some nanoseconds. */
    public void later(Runnable task, long nanos) {
        eventLoop.schedule(task, nanos, TimeUnit.NANOSECONDS).addListener(LinkChannel::logFailure);
    }

    void opened(Link link) {
        synchronized (this) {
            open = Stream.concat(Stream.of(open), Stream.of(link)).toArray(Link[]::new);
            if (polled) {
                link.incoming().polled(true);
            }
        }
        if (link.isEnded()) {
            ended(link);
        }
    }

    synchronized void ended(Link link) {
        open = Stream.of(open).filter(other -> other != link).toArray(Link[]::new);
    }

    /** Ends all open links; returns their number. */
    public int cut() {
        Link[] all = open;
        for (Link link : all) {
            link.end("cut by the fault plan");
        }
        return all.length;
    }

    /** Reads all links on a thread that polls busily. Returns whether anything was received. */
    public boolean poll() {
        // Not atomic: two concurrent polls may count as one, which is enough to see that a thread polls.
        polls.lazySet(polls.get() + 1);
        long now = System.nanoTime();
        busyPolls = now - lastPoll < BUSY_NANOS ? busyPolls + 1 : 0;
        lastPoll = now;
        boolean any = read();
        if (any && !polled && busyPolls >= BUSY_POLLS) {
            startPolling();
        }
        return any;
    }

    /** Reads all links once. Returns whether anything was received. */
    public boolean read() {
        boolean any = false;
        for (Link link : open) {
            any |= link.poll();
        }
        return any;
    }

    private synchronized void startPolling() {
        if (!polled) {
            long term = ++terms;
            setPolled(true);
            eventLoop.execute(() -> watch(term));
        }
    }

    /** Called by a thread that stops polling: the event loop reads again at once, not only after the next tick. */
    public void stopPolling() {
        if (polled) {
            synchronized (this) {
                if (polled) {
                    setPolled(false);
                }
            }
        }
    }

    /** Whether polling threads read, and the event loop does not. */
    public boolean isPolled() {
        return polled;
    }

    private void setPolled(boolean now) {
        polled = now;
        for (Link link : open) {
            link.incoming().polled(now);
        }
    }

    private synchronized boolean isTerm(long term) {
        return polled && term == terms;
    }

    private void watch(long term) {
        if (!isTerm(term)) {
            // Polling has stopped. If it has started again in the meantime, the new term has its own watch.
            return;
        }
        long now = polls.get();
        if (now != seen) {
            seen = now;
            later(() -> watch(term), TICK_NANOS);
            return;
        }
        stopPolling();
    }
}
