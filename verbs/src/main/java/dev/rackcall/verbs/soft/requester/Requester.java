package dev.rackcall.verbs.soft.requester;

import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.WorkRequest;
import dev.rackcall.verbs.soft.queue.QueuePairCore;
import dev.rackcall.verbs.soft.queue.SoftCompletionQueue;
import dev.rackcall.verbs.soft.wire.SendBuffer;
import dev.rackcall.verbs.soft.wire.WireViolation;
import java.lang.foreign.MemorySegment;

/**
 * The sending half of a queue pair: takes send requests, sends them over links and completes them. Takes the queue
 * pair's monitor around its {@link SendQueue}.
 */
public final class Requester extends Sender {
    private final QueuePairCore core;
    private final SoftCompletionQueue completions;
    private final RequesterLinks links;
    private final SendQueue queue;

    public Requester(QueuePairCore core, RequesterLinks links) {
        this.core = core;
        this.links = links;
        completions = (SoftCompletionQueue) core.spec().sendQueue();
        queue = new SendQueue(core, completions, this);
    }

    public void attach() {
        completions.users().add();
    }

    public void detach() {
        completions.users().remove();
    }

    /** Connects an RC queue pair. With the monitor. */
    public void connect(AddressVector path) {
        queue.connect(new Destination(links, path.gid()));
    }

    /** With the monitor. */
    public void start(ReadyToSend attributes) {
        queue.start(attributes);
    }

    /** Posts a request; false if the queue is full. */
    public boolean post(WorkRequest request) {
        RequesterLink link;
        synchronized (core) {
            if (!queue.offer(request)) {
                return false;
            }
            if (!queue.hasUnsent()) {
                return true;
            }
            link = queue.nextLink();
        }
        push(link);
        return true;
    }

    /** Posts the first {@code count} requests of this list; returns how many had room. */
    public int post(WorkRequest[] requests, int count) {
        int posted = 0;
        try {
            synchronized (core) {
                while (posted < count && queue.offer(requests[posted])) {
                    posted++;
                }
            }
        } finally {
            pushUnsent();
        }
        return posted;
    }

    @Override
    void pushUnsent() {
        RequesterLink link;
        synchronized (core) {
            if (!queue.hasUnsent()) {
                return;
            }
            link = queue.nextLink();
        }
        push(link);
    }

    /** Never called with a monitor held, since it also sends other queue pairs' requests. */
    private void push(RequesterLink link) {
        if (link.isEnded()) {
            linkEnded(link);
        } else {
            link.activate(this);
            link.move();
        }
    }

    @Override
    Progress transmit(RequesterLink link, SendBuffer out) {
        synchronized (core) {
            return queue.transmit(link, out);
        }
    }

    @Override
    boolean expectsAnswersOver(RequesterLink link) {
        return core.type() != QueuePairType.UD && queue.isOver(link);
    }

    @Override
    long answered(MemorySegment frame, long at, int length) throws WireViolation {
        synchronized (core) {
            return queue.answers().read(frame, at, length);
        }
    }

    @Override
    void resume() {
        synchronized (core) {
            queue.resume();
        }
        pushUnsent();
    }

    /** A link ended: requests in flight over it fail. */
    public void linkEnded(RequesterLink link) {
        synchronized (core) {
            queue.lost(link);
            if (!core.isSending()) {
                return;
            }
        }
        pushUnsent();
    }

    /**
     * Fails the queue pair if its peer has been silent for too long.
     *
     * @param stood nanoseconds for which this device itself was stopped; they do not count as silence of the peer
     */
    public void expire(long now, long stood) {
        synchronized (core) {
            if (core.isSending()) {
                queue.expire(now, stood);
            }
        }
    }

    /** Completes all outstanding requests as flushed. With the monitor. */
    public void flush() {
        queue.flush();
    }

    /** Drops all outstanding requests without completions. With the monitor. */
    public void drop() {
        queue.drop();
    }
}
