package dev.rackcall.cp.client;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.cp.Arrivals;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.MessagePort;
import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** A port of the host's agent process: memory is given through the session's ring, messages are told in its place. */
final class ForeignPort implements MessagePort {
    private final TenantSession attachment;
    private final SessionLayout layout;
    private final MemorySegment memory;
    private final int place;
    private final long at;
    private final int number;
    private final long base;
    private final Optional<Runnable> arrival;
    private final AtomicBoolean closed = new AtomicBoolean();
    /** Pieces of memory so far; of who gives. */
    private long given;

    /** AgentMessages so far; written by who receives. */
    private volatile long received;

    /** @param arrival by which the attachment says what has come, until this is closed */
    ForeignPort(TenantSession attachment, int place, int number, Optional<Runnable> arrival) {
        this.arrival = arrival;
        this.attachment = attachment;
        this.place = place;
        this.number = number;
        layout = attachment.layout();
        memory = attachment.memory();
        at = layout.place(place);
        base = memory.get(JAVA_LONG, at + SessionLayout.BASE);
    }

    @Override
    public int number() {
        return number;
    }

    private void requireWorking() {
        // Partner: SessionPlace.fail.
        boolean hasFailed = !closed.get() && (int) SessionLayout.INT.getAcquire(memory, at + SessionLayout.FAILED) != 0;
        if (closed.get() || attachment.isDead() || hasFailed) {
            String reason =
                    closed.get() ? "it is closed" : attachment.isDead() ? attachment.obituary() : attachment.text(at);
            throw new ControlPlaneException(
                    Kind.QUEUE_FAILED, "port " + number + " takes nothing: " + reason + "; bind it again");
        }
    }

    @Override
    public boolean give(MemoryRegion region, long offset, int length, long id) {
        MessagePort.requireRange(region, offset, length);
        requireWorking();
        if (given - received >= layout.depth()
                || !attachment.ring().give(place, id, region.address() + offset, length, region.localKey())) {
            return false;
        }
        given++;
        attachment.published();
        return true;
    }

    @Override
    public int receive(Arrivals batch) {
        int count = takeUnlessClosed(batch);
        if (count == 0) {
            boolean wasDead = attachment.isDead();
            // Once more: the agent may have said something before it died.
            count = wasDead ? takeUnlessClosed(batch) : 0;
            if (count == 0) {
                requireWorking();
            }
        }
        return count;
    }

    private int takeUnlessClosed(Arrivals batch) {
        try {
            return closed.get() ? 0 : take(batch);
        } catch (IllegalStateException e) {
            // Its tenant was closed just then, and the memory is gone.
            if (closed.get()) {
                return 0;
            }
            throw e;
        }
    }

    private int take(Arrivals batch) {
        long next = received;
        int count = 0;
        while (count < batch.capacity()) {
            long entry = layout.completion(at, base + next);
            // Partner: SessionPlace.publish.
            if ((long) SessionLayout.LONG.getAcquire(memory, entry) != base + next + 1) {
                break;
            }
            batch.set(
                    count++,
                    memory.get(JAVA_LONG, entry + SessionLayout.COMPLETION_ID),
                    memory.get(JAVA_INT, entry + SessionLayout.COMPLETION_BYTES),
                    memory.get(JAVA_LONG, entry + SessionLayout.COMPLETION_HOST));
            next++;
        }
        if (count > 0) {
            received = next;
        }
        return count;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            arrival.ifPresent(attachment::forget);
            attachment.close(place);
            attachment.left(this);
        }
    }
}
