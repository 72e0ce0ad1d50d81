package dev.rackcall.cp.client;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.cp.table.RegionRecord;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import java.util.Optional;

/**
 * A virtual queue of the host's agent process: requests go into the session's ring, completions arrive in the place.
 */
final class ForeignQueue extends ForeignPlace implements VirtualQueue {
    private static final CompletionStatus[] STATUSES = CompletionStatus.values();
    private static final CompletionOpcode[] OPCODES = CompletionOpcode.values();

    private final HostId host;
    private final int epoch;
    /** Ids of requests that may be in flight, needed when the agent dies. */
    private final long[] ids;
    /** Requests pushed so far; written by the thread that pushes. */
    private volatile long pushed;

    private long flushed;

    ForeignQueue(TenantSession session, int place, HostId host) {
        super(session, place);
        this.host = host;
        epoch = memory.get(JAVA_INT, at + SessionLayout.EPOCH);
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
        if (isClosed()) {
            return QueuePairState.RESET;
        }
        return session.isDead() || hasFailed() ? QueuePairState.ERROR : QueuePairState.READY_TO_SEND;
    }

    @Override
    public Optional<String> failure() {
        return isClosed() ? Optional.empty() : problem();
    }

    @Override
    public boolean push(WorkRequest request) {
        return push(request, 0, 0);
    }

    @Override
    public boolean push(WorkRequest message, MemoryRegion first, MemoryRegion second) {
        return push(message, RegionRecord.keyOf(first.remoteKey()), RegionRecord.keyOf(second.remoteKey()));
    }

    private boolean push(WorkRequest request, long first, long second) {
        if (isClosed() || session.isDead() || hasFailed()) {
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
        if (!session.ring.push(place, request, first, second)) {
            return false;
        }
        pushed = number + 1;
        session.places.published();
        return true;
    }

    private boolean hasRoom(long number) {
        if (number - taken() < ids.length) {
            return true;
        }
        // Some may have ended without a completion. Partner: SessionPlace.tellCounts, which writes in the other order.
        long ended = (long) SessionLayout.LONG.getAcquire(memory, at + SessionLayout.ENDED);
        return number - ended + produced() - taken() < ids.length;
    }

    @Override
    public int pop(Completions batch) {
        if (isClosed()) {
            return 0;
        }
        int count = take(batch);
        if (count == 0 && session.isDead()) {
            // Checked again: the agent may have completed requests before it died.
            count = take(batch);
            return count > 0 ? count : flush(batch);
        }
        return count;
    }

    @Override
    public void look() {
        // The agent process polls the device.
    }

    @Override
    public void rest() {
        // The same.
    }

    @Override
    public boolean isMovedByLooks() {
        return false;
    }

    private int take(Completions batch) {
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
                    STATUSES[memory.get(JAVA_INT, entry + SessionLayout.COMPLETION_STATUS)],
                    OPCODES[memory.get(JAVA_INT, entry + SessionLayout.COMPLETION_OPCODE)],
                    memory.get(JAVA_INT, entry + SessionLayout.COMPLETION_BYTES),
                    0);
        }
        if (count > 0) {
            tookUpTo(first + count);
        }
        return count;
    }

    /** The agent has died: requests that it has not reported as ended are flushed. */
    private int flush(Completions batch) {
        long ended = (long) SessionLayout.LONG.getAcquire(memory, at + SessionLayout.ENDED);
        long first = Math.max(ended, taken());
        int count = 0;
        for (; count < batch.capacity() && first + flushed < pushed; flushed++) {
            long id = ids[(int) ((first + flushed) % ids.length)];
            batch.set(count++, id, CompletionStatus.FLUSHED, CompletionOpcode.UNKNOWN, 0, 0);
        }
        return count;
    }
}
