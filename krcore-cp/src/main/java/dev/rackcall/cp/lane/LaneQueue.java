package dev.rackcall.cp.lane;

import dev.rackcall.cp.request.CheckedRequest;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.WorkRequest;

/**
 * A virtual queue as its lane sees it. It moves to the lane that its peer prefers when none of its requests is in
 * flight, so that no request overtakes another. A thread that holds a lane's monitor may take a queue's, never the
 * other way round.
 */
public abstract class LaneQueue {
    /** In place of a token, for a request of the agent itself. */
    protected static final long INTERNAL = -1;

    static final long CLOSED = -2;

    private record Route(Lane lane, LaneTenant.Share share) {
        static Route over(Lane lane, LaneTenant tenant) {
            return new Route(lane, lane.share(tenant));
        }

        void release() {
            lane.release(share);
        }
    }

    private final LaneTenant tenant;
    private final LanePeer peer;
    /** Changes only when no request is in flight. Written with the monitor by the thread that pushes. */
    private volatile Route route;
    /** Requests at the lane; guarded by the monitor, with what follows. */
    private int underWay;

    private boolean closed;

    protected LaneQueue(LaneTenant tenant, LanePeer peer) {
        this.tenant = tenant;
        this.peer = peer;
        route = Route.over(peer.lane(), tenant);
    }

    protected final LanePeer peer() {
        return peer;
    }

    /** Posts a request to the lane; returns false if there is no room now. */
    protected final boolean postToLane(CheckedRequest request) {
        Route current = route;
        return current.lane().post(this, current.share(), request);
    }

    /** Moves to the lane that the peer has now; returns false if requests on the former one must end first. */
    protected final boolean isOnItsLane() {
        Route former = route;
        Lane now = peer.lane();
        if (former.lane() == now) {
            return true;
        }
        if (hasSomethingUnderWay()) {
            former.lane().poll();
        }
        if (hasSomethingUnderWay()) {
            return false;
        }
        // Without the monitor: a lane's monitor must be taken before a queue's.
        Route next = Route.over(now, tenant);
        boolean isTaken;
        synchronized (this) {
            isTaken = underWay == 0 && !closed;
            if (isTaken) {
                route = next;
            }
        }
        (isTaken ? former : next).release();
        return isTaken;
    }

    private synchronized boolean hasSomethingUnderWay() {
        return underWay > 0;
    }

    /** Whether a request is in flight; to be called with the monitor. */
    protected final boolean isInFlight() {
        return underWay > 0;
    }

    /** Handles the completions of the lane. */
    protected final void pollLane() {
        route.lane().poll();
    }

    /** Called before a thread that polls the lane sleeps. */
    protected final void restLane() {
        route.lane().rest();
    }

    public final synchronized boolean isClosed() {
        return closed;
    }

    /** As {@link #isClosed}; to be called with the monitor. */
    protected final boolean wasClosed() {
        return closed;
    }

    /** Returns whether it was open until now. */
    protected final synchronized boolean beginClose() {
        boolean isFirst = !closed;
        closed = true;
        return isFirst;
    }

    protected final void leaveLane() {
        route.release();
    }

    /**
     * Takes a place for a request that is about to be posted; called with the lane's monitor. Returns the request's
     * token, INTERNAL or CLOSED.
     */
    final synchronized long posting(CheckedRequest request) {
        if (closed) {
            return CLOSED;
        }
        underWay++;
        return request.isInternal() ? INTERNAL : take(request);
    }

    /** Undoes {@link #posting}, since the queue pair had no room; called with the lane's monitor. */
    final synchronized void notPosted(long token) {
        underWay--;
        if (token != INTERNAL) {
            takeBack(token);
        }
    }

    /** A request has ended; called with the lane's monitor. */
    final void completed(long token, CompletionStatus status, CompletionOpcode opcode, int length, int messageSlot) {
        if (messageSlot >= 0) {
            freeMessage(messageSlot);
        }
        synchronized (this) {
            underWay--;
            ended(token, status, opcode, length);
        }
    }

    /** Returns the token of a request that now has a place; called with the monitor. */
    protected abstract long take(CheckedRequest request);

    /** Undoes the last {@link #take}, since the request was not posted; called with the monitor. */
    protected abstract void takeBack(long token);

    /** A request has ended; called with the monitor. */
    protected abstract void ended(long token, CompletionStatus status, CompletionOpcode opcode, int length);

    /** Fills in the request that sends the message in this slot. */
    protected abstract void writeMessage(WorkRequest request, int slot, long id);

    protected abstract void freeMessage(int slot);
}
