package dev.rackcall.lock;

import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;
import java.util.ArrayList;
import java.util.List;

/**
 * The queue pairs by which a thread rings the bells of threads that wait behind it, one for each node. Used by one
 * thread, whose sessions may share it, and by their {@link LockFinisher}, or by a keeper. Thread-safe.
 *
 * <p>A ring only saves time: a waiter that is not rung detects its turn by itself, at most 2 ms later. A failed queue
 * pair is not used again. {@link #isReachable} reports it, and {@link #add} replaces it.
 */
public final class LockPeers {
    private static final int DEPTH = 32;
    private static final int SIGNALED_EACH = 8;

    private static final class Peer {
        private final int node;
        private final QueuePair queuePair;
        private final CompletionQueue completions;
        private int outstanding;
        private boolean failed;

        Peer(int node, QueuePair queuePair, CompletionQueue completions) {
            this.node = node;
            this.queuePair = queuePair;
            this.completions = completions;
        }
    }

    private final List<Peer> peers = new ArrayList<>();
    private final WorkRequest request = WorkRequest.create(1, Long.BYTES);
    private final Completions batch = Completions.create(DEPTH / SIGNALED_EACH);

    private LockPeers() {}

    /** Without peers. */
    public static LockPeers create() {
        return new LockPeers();
    }

    /**
     * Adds a node, or replaces a node's queue pair; the former one may then be closed. The caller keeps the queue pair
     * and what belongs to it, and uses them for nothing else.
     *
     * @param node as in the bells of its threads; include this process's own node if several of its threads use the
     *     same locks
     * @param queuePair to the device of that node, reliable and connected, with room for 32 sends and 8 bytes inline
     * @param completions where its sends complete, and nothing else; with room for 32
     */
    public synchronized LockPeers add(int node, QueuePair queuePair, CompletionQueue completions) {
        peers.removeIf(before -> before.node == node);
        peers.add(new Peer(node, queuePair, completions));
        return this;
    }

    /**
     * Whether the threads of this node can be rung: it has a queue pair, and no send over it is known to have failed.
     * Check this regularly in order to reconnect: a lost peer is noticed only some time after a send.
     */
    public synchronized boolean isReachable(int node) {
        for (Peer peer : peers) {
            if (peer.node == node) {
                reap(peer);
                return !peer.failed;
            }
        }
        return false;
    }

    /** Sends a ring if the node is reachable; does not wait. */
    synchronized void ring(int node, long address, int key, long word) {
        for (int i = 0; i < peers.size(); i++) {
            Peer peer = peers.get(i);
            if (peer.node == node && !peer.failed) {
                ring(peer, address, key, word);
                return;
            }
        }
    }

    private void ring(Peer peer, long address, int key, long word) {
        if (peer.outstanding >= DEPTH - SIGNALED_EACH) {
            reap(peer);
            if (peer.failed || peer.outstanding >= DEPTH - SIGNALED_EACH) {
                return;
            }
        }
        WorkRequest write = request.write(address, key).inline(word);
        peer.outstanding++;
        if (peer.outstanding % SIGNALED_EACH == 0) {
            write.signaled();
        }
        try {
            peer.failed = !peer.queuePair.postSend(write);
        } catch (VerbsException e) {
            // The node has left, and with it the threads that wait there.
            peer.failed = true;
        }
    }

    private void reap(Peer peer) {
        int count = peer.completions.poll(batch);
        for (int i = 0; i < count; i++) {
            peer.failed |= !batch.isSuccess(i);
        }
        peer.outstanding -= count * SIGNALED_EACH;
    }
}
