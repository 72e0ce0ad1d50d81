package dev.rackcall.cp.client;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.cp.Arrivals;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.MessagePort;
import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.verbs.MemoryRegion;
import java.util.Optional;

/**
 * A port of the host's agent process: memory is given through the session's ring, messages are reported in the place.
 */
final class ForeignPort extends ForeignPlace implements MessagePort {
    private final int number;
    private final Optional<Runnable> arrival;
    /** Pieces of memory given so far; used by the thread that gives. */
    private long given;

    /** @param arrival runs when a message has arrived, until this is closed */
    ForeignPort(TenantSession session, int place, int number, Optional<Runnable> arrival) {
        super(session, place);
        this.number = number;
        this.arrival = arrival;
    }

    @Override
    public int number() {
        return number;
    }

    private void requireWorking() {
        Optional<String> reason = isClosed() ? Optional.of("it is closed") : problem();
        if (reason.isPresent()) {
            throw new ControlPlaneException(
                    Kind.QUEUE_FAILED, "port " + number + " takes nothing: " + reason.get() + "; bind it again");
        }
    }

    @Override
    public boolean give(MemoryRegion region, long offset, int length, long id) {
        MessagePort.requireRange(region, offset, length);
        requireWorking();
        if (given - taken() >= layout.depth()
                || !session.ring.give(place, id, region.address() + offset, length, region.localKey())) {
            return false;
        }
        given++;
        session.places.published();
        return true;
    }

    @Override
    public int receive(Arrivals batch) {
        int count = takeUnlessClosed(batch);
        if (count == 0) {
            boolean wasDead = session.isDead();
            // Checked again: the agent may have reported messages before it died.
            count = wasDead ? takeUnlessClosed(batch) : 0;
            if (count == 0) {
                requireWorking();
            }
        }
        return count;
    }

    private int takeUnlessClosed(Arrivals batch) {
        try {
            return isClosed() ? 0 : take(batch);
        } catch (IllegalStateException e) {
            // Its tenant was closed concurrently, and the memory is gone.
            if (isClosed()) {
                return 0;
            }
            throw e;
        }
    }

    private int take(Arrivals batch) {
        long first = taken();
        int count = 0;
        for (; count < batch.capacity(); count++) {
            long entry = completion(first + count);
            if (entry < 0) {
                break;
            }
            batch.set(
                    count,
                    memory.get(JAVA_LONG, entry + SessionLayout.COMPLETION_ID),
                    memory.get(JAVA_INT, entry + SessionLayout.COMPLETION_BYTES),
                    memory.get(JAVA_LONG, entry + SessionLayout.COMPLETION_HOST));
        }
        if (count > 0) {
            tookUpTo(first + count);
        }
        return count;
    }

    @Override
    protected void closing() {
        arrival.ifPresent(session::forget);
    }
}
