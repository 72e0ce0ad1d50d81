package dev.rackcall.cp.client;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** A virtual queue of the host's agent process: requests go into the session's ring, completions come into its place. */
final class ForeignQueue implements VirtualQueue {
    private static final CompletionStatus[] STATUSES = CompletionStatus.values();
    private static final CompletionOpcode[] OPCODES = CompletionOpcode.values();

    private final TenantSession attachment;
    private final SessionLayout layout;
    private final MemorySegment memory;
    private final int place;
    private final long at;
    private final HostId host;
    private final int epoch;
    private final long base;
    /** Of the requests that may be under way, in case that the agent dies and nobody else knows. */
    private final long[] ids;

    private final AtomicBoolean closed = new AtomicBoolean();
    /** Requests so far; written by who pushes. */
    private volatile long pushed;
    /** Completions so far; written by who pops. */
    private volatile long popped;

    private long flushed;

    ForeignQueue(TenantSession attachment, int place, HostId host) {
        this.attachment = attachment;
        this.place = place;
        this.host = host;
        layout = attachment.layout();
        memory = attachment.memory();
        at = layout.place(place);
        epoch = memory.get(JAVA_INT, at + SessionLayout.EPOCH);
        base = memory.get(JAVA_LONG, at + SessionLayout.BASE);
        ids = new long[layout.depth()];
    }

    @Override
    public HostId host() {
        return host;
    }

    @Override
    public int epoch() {
        return epoch;
    }

    @Override
    public QueuePairState state() {
        if (closed.get()) {
            return QueuePairState.RESET;
        }
        return attachment.isDead() || hasFailed() ? QueuePairState.ERROR : QueuePairState.READY_TO_SEND;
    }

    private boolean hasFailed() {
        // Partner: SessionPlace.deliver.
        return (int) SessionLayout.INT.getAcquire(memory, at + SessionLayout.FAILED) != 0;
    }

    @Override
    public Optional<String> failure() {
        if (closed.get()) {
            return Optional.empty();
        }
        if (attachment.isDead()) {
            return Optional.of(attachment.obituary());
        }
        return hasFailed() ? Optional.of(attachment.text(at)) : Optional.empty();
    }

    @Override
    public boolean push(WorkRequest request) {
        if (closed.get() || attachment.isDead() || hasFailed()) {
            throw new ControlPlaneException(
                    Kind.QUEUE_FAILED,
                    "the virtual queue to " + host + " takes no requests: "
                            + failure().orElse("it is closed") + "; connect again");
        }
        long number = pushed;
        if (!hasRoom(number)) {
            return false;
        }
        ids[(int) (number % ids.length)] = request.id();
        if (!attachment.ring().push(place, request)) {
            return false;
        }
        pushed = number + 1;
        attachment.published();
        return true;
    }

    private boolean hasRoom(long number) {
        if (number - popped < ids.length) {
            return true;
        }
        // Some may have ended without a completion. Partner: SessionPlace.tellCounts, which writes in the other order.
        long ended = (long) SessionLayout.LONG.getAcquire(memory, at + SessionLayout.ENDED);
        long produced = (long) SessionLayout.LONG.getAcquire(memory, at + SessionLayout.PRODUCED) - base;
        return number - ended + produced - popped < ids.length;
    }

    @Override
    public int pop(Completions batch) {
        if (closed.get()) {
            return 0;
        }
        int count = take(batch);
        if (count == 0 && attachment.isDead()) {
            // Once more: the agent may have said something before it died.
            count = take(batch);
            return count > 0 ? count : flush(batch);
        }
        return count;
    }

    @Override
    public void look() {
        // The agent's process does.
    }

    @Override
    public boolean isMovedByLooks() {
        return false;
    }

    private int take(Completions batch) {
        long number = popped;
        int count = 0;
        while (count < batch.capacity()) {
            long entry = layout.completion(at, base + number);
            // Partner: SessionPlace.publish.
            if ((long) SessionLayout.LONG.getAcquire(memory, entry) != base + number + 1) {
                break;
            }
            batch.set(
                    count++,
                    memory.get(JAVA_LONG, entry + SessionLayout.COMPLETION_ID),
                    STATUSES[memory.get(JAVA_INT, entry + SessionLayout.COMPLETION_STATUS)],
                    OPCODES[memory.get(JAVA_INT, entry + SessionLayout.COMPLETION_OPCODE)],
                    memory.get(JAVA_INT, entry + SessionLayout.COMPLETION_BYTES),
                    0);
            number++;
        }
        if (count > 0) {
            popped = number;
        }
        return count;
    }

    /** The agent has died: what it has not said to have ended is flushed. */
    private int flush(Completions batch) {
        long ended = (long) SessionLayout.LONG.getAcquire(memory, at + SessionLayout.ENDED);
        long first = Math.max(ended, popped);
        int count = 0;
        for (; count < batch.capacity() && first + flushed < pushed; flushed++) {
            long id = ids[(int) ((first + flushed) % ids.length)];
            batch.set(count++, id, CompletionStatus.FLUSHED, CompletionOpcode.UNKNOWN, 0, 0);
        }
        return count;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            attachment.close(place);
            attachment.left(this);
        }
    }
}
