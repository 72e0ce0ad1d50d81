package dev.rackcall.cp.server;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.cp.Arrivals;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.agent.LocalPort;
import dev.rackcall.cp.agent.LocalQueue;
import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.QueuePairState;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * The agent's side of one place of a session: one virtual queue or port at a time, whose completions it writes for the
 * tenant's process. The pump and a lookup for the same tenant may use it concurrently.
 */
final class SessionPlace {
    private final SessionQueues session;
    private final SessionLayout layout;
    private final MemorySegment memory;
    private final long at;
    private final Arrivals arrivals = Arrivals.create(8);
    private Optional<LocalQueue> queue = Optional.empty();
    private Optional<LocalPort> port = Optional.empty();
    /** Rings the tenant of a port. */
    private Runnable ring = () -> {};

    private long produced;
    private long flushed;
    private boolean failed;
    /** Whether the session will deliver from it soon; guarded by the session. */
    private boolean noted;

    SessionPlace(SessionQueues session, SessionLayout layout, MemorySegment memory, int index) {
        this.session = session;
        this.layout = layout;
        this.memory = memory;
        at = layout.place(index);
    }

    synchronized Optional<LocalQueue> queue() {
        return queue;
    }

    synchronized boolean isUsed() {
        return queue.isPresent() || port.isPresent();
    }

    /** Makes the session deliver from this place. */
    void changed() {
        session.note(this);
    }

    boolean noted() {
        return noted;
    }

    void noted(boolean now) {
        noted = now;
    }

    /** Opens the place for a virtual queue. */
    synchronized void open(long id, LocalQueue made) {
        queue = Optional.of(made);
        memory.set(JAVA_INT, at + SessionLayout.EPOCH, made.epoch());
        open(id);
    }

    /**
     * Opens the place for a port.
     *
     * @param whenCome runs when the tenant has messages to take
     */
    synchronized void open(long id, LocalPort made, Runnable whenCome) {
        port = Optional.of(made);
        ring = whenCome;
        open(id);
    }

    private void open(long id) {
        flushed = 0;
        failed = false;
        memory.set(JAVA_LONG, at + SessionLayout.BASE, produced);
        memory.set(JAVA_LONG, at + SessionLayout.ENDED, 0);
        memory.set(JAVA_LONG, at + SessionLayout.PRODUCED, produced);
        memory.set(JAVA_INT, at + SessionLayout.FAILED, 0);
        memory.set(JAVA_INT, at + SessionLayout.OUTCOME, SessionLayout.OPEN);
        answer(id);
    }

    /** Reports that the place was not opened. */
    synchronized void refuse(long id, ControlPlaneException.Kind kind, String text) {
        memory.set(JAVA_INT, at + SessionLayout.OUTCOME, 1 + kind.ordinal());
        say(text);
        answer(id);
    }

    synchronized void close(long id) {
        queue.ifPresent(LocalQueue::close);
        queue = Optional.empty();
        port.ifPresent(LocalPort::close);
        port = Optional.empty();
        answer(id);
    }

    /** Tells the tenant that the entry with this id is done. */
    void answer(long id) {
        // Partner: Places.isAnswered.
        SessionLayout.LONG.setRelease(memory, at, id);
    }

    private void say(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        byte[] shortened =
                bytes.length <= SessionLayout.MAX_TEXT ? bytes : Arrays.copyOf(bytes, SessionLayout.MAX_TEXT);
        MemorySegment.copy(MemorySegment.ofArray(shortened), 0, memory, at + SessionLayout.TEXT, shortened.length);
        memory.set(JAVA_INT, at + SessionLayout.TEXT_LENGTH, shortened.length);
    }

    /** Publishes completions and messages. */
    synchronized void deliver(Completions batch) {
        port.ifPresent(this::deliver);
        if (queue.isEmpty()) {
            return;
        }
        LocalQueue from = queue.get();
        tellFailure(from);
        for (int count = from.take(batch); count > 0; count = from.take(batch)) {
            // Again, so that a tenant that pops an error finds the queue in its error state.
            tellFailure(from);
            for (int i = 0; i < count; i++) {
                publish(batch.id(i), batch.status(i), batch.opcode(i), batch.bytes(i));
            }
        }
        // Last, so that it counts only requests whose completions are published.
        tellCounts(from.ended());
    }

    private void tellFailure(LocalQueue from) {
        if (!failed && from.state() == QueuePairState.ERROR) {
            fail(from.failure().orElse(""));
        }
    }

    private void fail(String reason) {
        failed = true;
        say(reason);
        // Partner: ForeignPlace.hasFailed.
        SessionLayout.INT.setRelease(memory, at + SessionLayout.FAILED, 1);
    }

    private void deliver(LocalPort from) {
        for (int count = from.take(arrivals); count > 0; count = from.take(arrivals)) {
            for (int i = 0; i < count; i++) {
                memory.set(
                        JAVA_LONG,
                        layout.completion(at, produced) + SessionLayout.COMPLETION_HOST,
                        arrivals.host(i).value());
                publish(arrivals.id(i), CompletionStatus.SUCCESS, CompletionOpcode.RECEIVE, arrivals.bytes(i));
            }
            ring.run();
        }
    }

    /** Gives memory for a message; the port fails if the tenant may not give it. */
    void give(long address, int length, int key, long id) {
        Optional<LocalPort> mine;
        synchronized (this) {
            mine = failed ? Optional.empty() : port;
        }
        try {
            if (mine.isPresent() && !mine.get().give(address, length, key, id)) {
                throw new IllegalArgumentException("more memory than the port takes at a time");
            }
        } catch (IllegalArgumentException | ControlPlaneException e) {
            synchronized (this) {
                fail(String.valueOf(e.getMessage()));
                ring.run();
            }
        }
    }

    /** Ends a request that arrived after the queue had failed. */
    synchronized void flush(long id) {
        publish(id, CompletionStatus.FLUSHED, CompletionOpcode.UNKNOWN, 0);
        flushed++;
        queue.ifPresent(open -> tellCounts(open.ended()));
    }

    private void tellCounts(long ended) {
        SessionLayout.LONG.setRelease(memory, at + SessionLayout.PRODUCED, produced);
        // Partner: ForeignQueue.hasRoom, which reads this count first.
        SessionLayout.LONG.setRelease(memory, at + SessionLayout.ENDED, ended + flushed);
    }

    private void publish(long id, CompletionStatus status, CompletionOpcode opcode, int bytes) {
        long entry = layout.completion(at, produced++);
        memory.set(JAVA_LONG, entry + SessionLayout.COMPLETION_ID, id);
        memory.set(JAVA_INT, entry + SessionLayout.COMPLETION_BYTES, bytes);
        memory.set(JAVA_INT, entry + SessionLayout.COMPLETION_STATUS, status.ordinal());
        memory.set(JAVA_INT, entry + SessionLayout.COMPLETION_OPCODE, opcode.ordinal());
        // Partner: ForeignPlace.completion.
        SessionLayout.LONG.setRelease(memory, entry, produced);
    }
}
