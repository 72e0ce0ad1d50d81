package dev.rackcall.rpc.shm;

import java.util.concurrent.locks.ReentrantLock;

/**
 * The slots of a connection whose ends have memory of their own: more than its calls may have at a time. The rest is for questions that reading an answer asks, of which each holds its call's slot: if calls could
 * take all slots, they could all wait for one. Thread-safe.
 *
 * <p>How many calls are under way is counted when as many have begun as there was room for the last time: in between they can only have become fewer. So a call that ends need say so to nobody.
 */
final class ReservingSlots extends ClientSlots {
    private final int most;
    private final ReentrantLock turn = new ReentrantLock();
    /** Calls that may begin before they are counted anew. Guarded by {@link #turn}. */
    private int left;

    private ReservingSlots(ShmClientConnection connection, int count, int most) {
        super(connection, count);
        this.most = most;
    }

    /** The slots of a connection for as many calls as its channel asked for. */
    static ClientSlots of(ShmClientConnection connection) {
        int count = connection.link.slots();
        return new ReservingSlots(connection, count, Math.min(connection.spec.slots(), count - count / 4));
    }

    /** How many slots to ask a server for, to make so many calls at a time; a number that it refuses, it is to refuse by that name. */
    static int forCalls(int calls) {
        boolean mayBeDoubled = Integer.bitCount(calls) == 1
                && calls >= ConnectionFactory.MIN_SLOTS
                && calls <= ConnectionFactory.MAX_SLOTS / 2;
        return mayBeDoubled ? 2 * calls : calls;
    }

    @Override
    ShmClientCall claim(long deadline) {
        ShmClientCall call = tryForCall();
        return call != null ? call : claimSlowly(deadline, this::tryForCall);
    }

    @Override
    ShmClientCall claimToAsk(long deadline) {
        return super.claim(deadline);
    }

    private ShmClientCall tryForCall() {
        // Until the slot is occupied: who counts finds it so.
        turn.lock();
        try {
            if (left <= 0) {
                left = most - busy();
            }
            ShmClientCall call = left <= 0 ? null : tryClaim();
            if (call != null) {
                left--;
            }
            return call;
        } finally {
            turn.unlock();
        }
    }
}
