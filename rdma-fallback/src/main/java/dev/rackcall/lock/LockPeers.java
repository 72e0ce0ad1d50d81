package dev.rackcall.lock;

import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;
import java.util.ArrayList;
import java.util.List;

/**
 * How a thread rings the bells of those who wait behind it in the queues of locks: a queue pair to each node that has such threads. Used by one thread, whose
 * sessions may share it, and their {@link LockFinisher}, or by a keeper. Thread-safe. A ring is a hint that saves time: who is not rung, since his node is not here or its queue pair has failed, finds out by
 * himself, 2 ms later at most. A queue pair that has failed is not used again: {@link #isReachable} says so, and {@link #add} puts another one in its place.
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
     * Adds a node, or gives one that is there another queue pair; the one before may then be closed. The queue pair and what belongs to it stay the caller's, and nothing else
     * may use them.
     *
     * @param node as the bells of its threads name it; their own node, too, if others of its threads use the same locks
     * @param queuePair to the device of that node, reliable and connected, with room for 32 sends and 8 bytes inline
     * @param completions where its sends complete, and nothing else; with room for 32
     */
    public synchronized LockPeers add(int node, QueuePair queuePair, CompletionQueue completions) {
        peers.removeIf(before -> before.node == node);
        peers.add(new Peer(node, queuePair, completions));
        return this;
    }

    /**
     * Whether the threads of this node can be rung as far as is known: there is a queue pair to it, and nothing that was sent over it has failed. To be asked now and then by
     * who can connect anew: that a peer has gone is known only some time after something was sent to it.
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

    /** Sends it off, if there is a way; never waits for the network. */
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
            // The node has left: those who wait there have, too.
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
