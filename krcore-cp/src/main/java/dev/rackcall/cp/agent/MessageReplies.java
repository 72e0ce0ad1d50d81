package dev.rackcall.cp.agent;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.control.HostLife;
import dev.rackcall.cp.table.HostRecord;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.VerbsException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;

/** Replies to senders of messages, over one long-lived queue to each sender's host. Any thread may use it. */
final class MessageReplies {
    static final int KEPT = 128;
    /** A queue may fail because of another peer on its lane. */
    private static final int TRIES = 3;

    private static final class Way {
        final HostRecord record;
        final Deque<PortMessage> pending = new ArrayDeque<>();
        Optional<LocalQueue> queue = Optional.empty();
        int tries;

        Way(HostRecord record) {
            this.record = record;
        }
    }

    private final HostId host;
    private final HostRecord self;
    private final BiFunction<HostId, HostRecord, LocalQueue> connector;
    /** In LRU order; guarded by the monitor. */
    private final Map<HostLife, Way> ways = new LinkedHashMap<>(16, 0.75f, true);

    private int waiting;

    MessageReplies(HostId host, HostRecord self, BiFunction<HostId, HostRecord, LocalQueue> connector) {
        this.host = host;
        this.self = self;
        this.connector = connector;
    }

    synchronized void add(PortMessage message, CompletionStatus status) {
        HostLife life = new HostLife(message.host(), message.record().epoch());
        Way way = ways.computeIfAbsent(life, key -> new Way(message.record()));
        way.pending.add(
                PortMessage.about(PortMessage.ANSWER, status.code(), message.queue(), message.number(), host, self));
        waiting++;
        if (!send(life, way)) {
            ways.remove(life);
        }
        evict();
    }

    /** Sends the replies that had no room. */
    synchronized void flush() {
        if (waiting > 0) {
            ways.entrySet().removeIf(entry -> !send(entry.getKey(), entry.getValue()));
        }
    }

    /** Whether replies wait for room. */
    synchronized boolean areWaiting() {
        return waiting > 0;
    }

    /** Returns false if the host is gone. */
    private boolean send(HostLife life, Way way) {
        try {
            while (!way.pending.isEmpty()) {
                LocalQueue queue = queue(life, way);
                if (queue.isWorking()) {
                    if (!queue.send(way.pending.peek())) {
                        return true;
                    }
                    way.pending.poll();
                    waiting--;
                    way.tries = 0;
                } else {
                    queue.close();
                    way.queue = Optional.empty();
                    if (++way.tries == TRIES) {
                        throw new ControlPlaneException(
                                ControlPlaneException.Kind.UNREACHABLE, life.host() + " does not answer");
                    }
                }
            }
            return true;
        } catch (ControlPlaneException | VerbsException | IllegalArgumentException gone) {
            // The sender's own probe will find that this host is unreachable.
            waiting -= way.pending.size();
            way.queue.ifPresent(LocalQueue::close);
            return false;
        }
    }

    private LocalQueue queue(HostLife life, Way way) {
        if (way.queue.isEmpty()) {
            way.queue = Optional.of(connector.apply(life.host(), way.record));
        }
        return way.queue.get();
    }

    private void evict() {
        Iterator<Way> eldest = ways.values().iterator();
        for (int excess = ways.size() - KEPT; excess > 0 && eldest.hasNext(); excess--) {
            Way way = eldest.next();
            if (way.pending.isEmpty()) {
                way.queue.ifPresent(LocalQueue::close);
                eldest.remove();
            }
        }
    }
}
