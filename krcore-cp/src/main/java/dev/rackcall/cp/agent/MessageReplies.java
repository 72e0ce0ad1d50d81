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
    /** Queues tried in a row: a queue may fail because of another peer on its lane. */
    private static final int TRIES = 3;

    private static final class Sender {
        final HostRecord record;
        final Deque<PortMessage> pending = new ArrayDeque<>();
        Optional<LocalQueue> queue = Optional.empty();
        int tries;

        Sender(HostRecord record) {
            this.record = record;
        }
    }

    private final HostId host;
    private final HostRecord self;
    private final BiFunction<HostId, HostRecord, LocalQueue> connector;
    /** In LRU order; guarded by the monitor. */
    private final Map<HostLife, Sender> senders = new LinkedHashMap<>(16, 0.75f, true);

    private int waiting;

    MessageReplies(HostId host, HostRecord self, BiFunction<HostId, HostRecord, LocalQueue> connector) {
        this.host = host;
        this.self = self;
        this.connector = connector;
    }

    synchronized void add(PortMessage message, CompletionStatus status) {
        HostLife life = new HostLife(message.host(), message.record().epoch());
        Sender sender = senders.computeIfAbsent(life, key -> new Sender(message.record()));
        sender.pending.add(
                PortMessage.about(PortMessage.ANSWER, status.code(), message.queue(), message.number(), host, self));
        waiting++;
        if (!send(life, sender)) {
            senders.remove(life);
        }
        evict();
    }

    /** Sends the replies that had no room. */
    synchronized void flush() {
        if (waiting > 0) {
            senders.entrySet().removeIf(entry -> !send(entry.getKey(), entry.getValue()));
        }
    }

    /** Whether replies wait for room. */
    synchronized boolean areWaiting() {
        return waiting > 0;
    }

    /** Returns false if the host is gone. */
    private boolean send(HostLife life, Sender sender) {
        try {
            while (!sender.pending.isEmpty()) {
                LocalQueue queue = queue(life, sender);
                if (queue.isWorking()) {
                    if (!queue.send(sender.pending.peek())) {
                        return true;
                    }
                    sender.pending.poll();
                    waiting--;
                    sender.tries = 0;
                } else {
                    queue.close();
                    sender.queue = Optional.empty();
                    if (++sender.tries == TRIES) {
                        throw new ControlPlaneException(
                                ControlPlaneException.Kind.UNREACHABLE, life.host() + " does not answer");
                    }
                }
            }
            return true;
        } catch (ControlPlaneException | VerbsException | IllegalArgumentException gone) {
            // The sender's own probe will find that this host is unreachable.
            waiting -= sender.pending.size();
            sender.queue.ifPresent(LocalQueue::close);
            return false;
        }
    }

    private LocalQueue queue(HostLife life, Sender sender) {
        if (sender.queue.isEmpty()) {
            sender.queue = Optional.of(connector.apply(life.host(), sender.record));
        }
        return sender.queue.get();
    }

    private void evict() {
        Iterator<Sender> eldest = senders.values().iterator();
        for (int excess = senders.size() - KEPT; excess > 0 && eldest.hasNext(); excess--) {
            Sender sender = eldest.next();
            if (sender.pending.isEmpty()) {
                sender.queue.ifPresent(LocalQueue::close);
                eldest.remove();
            }
        }
    }
}
