package dev.rackcall.cp.client;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.session.SessionLayout;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;

/** Which places of a session are in use, at the tenant's side. Any thread may use it. */
final class PlaceAllocator {
    private record Closing(int place, long id) {}

    private final MemorySegment memory;
    private final SessionLayout layout;
    private final BitSet used = new BitSet();
    private final Deque<Closing> closing = new ArrayDeque<>();

    PlaceAllocator(MemorySegment memory, SessionLayout layout) {
        this.memory = memory;
        this.layout = layout;
    }

    /** @throws ControlPlaneException QUOTA_EXCEEDED if all are in use */
    synchronized int take() {
        while (!closing.isEmpty() && isDone(closing.peek())) {
            used.clear(closing.poll().place());
        }
        int place = used.nextClearBit(0);
        if (place >= layout.places()) {
            throw new ControlPlaneException(
                    Kind.QUOTA_EXCEEDED,
                    "this process has " + layout.places() + " virtual queues and may have no more; close some, or start"
                            + " the agent with more");
        }
        used.set(place);
        return place;
    }

    private boolean isDone(Closing entry) {
        // Partner: SessionPlace.answer.
        return (long) SessionLayout.LONG.getAcquire(memory, layout.place(entry.place())) == entry.id();
    }

    /** The agent has no queue there. */
    synchronized void giveBack(int place) {
        used.clear(place);
    }

    /** The agent will say by this id that it has no queue there any more. */
    synchronized void closing(int place, long id) {
        closing.add(new Closing(place, id));
    }
}
