package dev.rackcall.cp.lane;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RC queue pairs for busy peers, beside the shared lanes. They are connected in the background; a virtual queue changes
 * lanes when none of its requests is in flight, so no request overtakes another. At the maximum, a newly busy peer
 * replaces the least recently used one, if the latter is idle. Any thread may use it.
 */
public final class OwnQueuePairs {
    private static final Logger LOG = LoggerFactory.getLogger(OwnQueuePairs.class);
    private static final long LOOK_NANOS = Duration.ofSeconds(1).toNanos();
    /** The pause after a failed connection, during which the peer stays on its shared lane. */
    private static final long RETRY_NANOS = Duration.ofSeconds(10).toNanos();

    private static final long END_NANOS = Duration.ofSeconds(5).toNanos();

    /** Connects a queue pair to a peer and waits for it. */
    public interface Maker {
        /** @throws RuntimeException if the peer does not reply or refuses */
        Made make(LanePeer peer);
    }

    /**
     * A connected queue pair.
     *
     * @param close destroys it, when nothing on it is in flight
     */
    public record Made(Lane lane, Runnable close) {}

    /** The state of a peer. */
    private static final class Entry {
        Optional<Made> made = Optional.empty();
        boolean isBeingMade;
        long notBefore;
        long requests;
        long used;
    }

    private final int most;
    private final long busy;
    private final Maker maker;
    /** Guarded by the monitor, with all that follows. */
    private final Map<LanePeer, Entry> entries = new HashMap<>();

    private final List<Made> retired = new ArrayList<>();
    private int count;
    private long looked = System.nanoTime();
    private boolean closed;

    /**
     * @param most maximum number of queue pairs; 0 for none
     * @param busy requests between two checks that make a peer busy
     */
    public OwnQueuePairs(int most, long busy, Maker maker) {
        this.most = most;
        this.busy = busy;
        this.maker = maker;
    }

    /** Checks once a second which of these peers are busy. */
    public void lookNowAndThen(Peers peers) {
        long now = System.nanoTime();
        if (most > 0 && now - looked > LOOK_NANOS) {
            looked = now;
            look(peers.all(), now);
        }
    }

    /** Checks now. */
    synchronized void look(List<LanePeer> peers, long now) {
        if (closed) {
            return;
        }
        closeRetired();
        entries.keySet().removeIf(peer -> {
            boolean isGone = !peers.contains(peer) && !entries.get(peer).isBeingMade;
            if (isGone) {
                retire(peer);
            }
            return isGone;
        });
        List<LanePeer> candidates = new ArrayList<>();
        Map<LanePeer, Long> rates = new HashMap<>();
        for (LanePeer peer : peers) {
            Entry entry = entries.computeIfAbsent(peer, key -> new Entry());
            long sum = peer.requests();
            long rate = sum - entry.requests;
            entry.requests = sum;
            if (rate > 0) {
                entry.used = now;
            }
            rates.put(peer, rate);
            boolean mayTry = entry.notBefore == 0 || now - entry.notBefore > 0;
            if (rate >= busy && entry.made.isEmpty() && !entry.isBeingMade && mayTry && peer.isShared()) {
                candidates.add(peer);
            }
        }
        candidates.sort(Comparator.comparing((LanePeer peer) -> rates.get(peer)).reversed());
        for (LanePeer peer : candidates) {
            if (count == most && !evict(now)) {
                break;
            }
            begin(peer);
        }
    }

    private void begin(LanePeer peer) {
        Entry entry = entries.get(peer);
        entry.isBeingMade = true;
        count++;
        Thread.ofVirtual().name("rackcall-own-" + peer.host()).start(() -> make(peer, entry));
    }

    private void make(LanePeer peer, Entry entry) {
        Optional<Made> made = Optional.empty();
        try {
            made = Optional.of(maker.make(peer));
        } catch (RuntimeException e) {
            LOG.debug("{} stays on its shared lane: {}", peer, e.getMessage());
        }
        synchronized (this) {
            entry.isBeingMade = false;
            notifyAll();
            if (made.isPresent() && !closed) {
                entry.made = made;
                peer.prefer(Optional.of(made.get().lane()));
            } else {
                count--;
                entry.notBefore = System.nanoTime() + RETRY_NANOS;
                made.ifPresent(late -> late.close().run());
            }
        }
    }

    /** Retires the least recently used queue pair if it was idle since the last check. */
    private boolean evict(long now) {
        Optional<LanePeer> oldest = entries.keySet().stream()
                .filter(peer -> entries.get(peer).made.isPresent() && entries.get(peer).used != now)
                .min(Comparator.comparingLong(peer -> entries.get(peer).used));
        oldest.ifPresent(this::retire);
        return oldest.isPresent();
    }

    /** Moves the peer's virtual queues back to its shared lane. */
    private void retire(LanePeer peer) {
        Entry entry = entries.get(peer);
        entry.made.ifPresent(made -> {
            peer.prefer(Optional.empty());
            made.lane().retire();
            retired.add(made);
            count--;
        });
        entry.made = Optional.empty();
    }

    private void closeRetired() {
        Iterator<Made> all = retired.iterator();
        while (all.hasNext()) {
            Made made = all.next();
            if (!made.lane().isBusy()) {
                made.close().run();
                all.remove();
            }
        }
    }

    /** Retires a peer's queue pair, even a busy one; returns whether there was one. */
    synchronized boolean release(LanePeer peer) {
        boolean had = entries.containsKey(peer) && entries.get(peer).made.isPresent();
        if (had) {
            retire(peer);
        }
        return had;
    }

    /** Queue pairs that are connected or being connected. */
    synchronized int count() {
        return count;
    }

    /** Whether a queue pair is being connected. */
    synchronized boolean isMaking() {
        return entries.values().stream().anyMatch(entry -> entry.isBeingMade);
    }

    /** Closes all. Connections in progress end first; {@link Lanes#stopConnecting} cancels them. */
    public synchronized void close() {
        closed = true;
        try {
            long start = System.nanoTime();
            for (long left = END_NANOS; left > 0 && isMaking(); left = END_NANOS - (System.nanoTime() - start)) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        entries.values()
                .forEach(entry -> entry.made.ifPresent(made -> made.close().run()));
        retired.forEach(made -> made.close().run());
        entries.clear();
        retired.clear();
    }
}
