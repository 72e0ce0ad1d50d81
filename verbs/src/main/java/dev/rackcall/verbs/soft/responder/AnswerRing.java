package dev.rackcall.verbs.soft.responder;

import static dev.rackcall.verbs.soft.wire.FrameLayout.INT;
import static dev.rackcall.verbs.soft.wire.FrameLayout.LONG;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.soft.memory.DomainMemory;
import dev.rackcall.verbs.soft.queue.DeviceCore;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import dev.rackcall.verbs.soft.wire.Refusal;
import dev.rackcall.verbs.soft.wire.SendBuffer;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Answers that have not left yet, in order. The thread that reads the link fills the ring, the thread that sends
 * empties it. A READ's data is loaded from memory only when it leaves. While the ring is full, no requests are read.
 */
final class AnswerRing {
    private static final int CAPACITY = 1024;

    private static final class Answer {
        int kind;
        int reason;
        int queuePair;
        int packet;
        long value;
        long due;
        Responder responder;
        DomainMemory memory;
        int key;
        long address;
        long length;
        long sent;
    }

    private final DeviceCore device;
    private final Runnable move;
    private final Answer[] ring = new Answer[CAPACITY];
    private final AtomicLong added = new AtomicLong();
    private final AtomicLong removed = new AtomicLong();

    /** Responders with done messages that are not acknowledged. Used by the thread that reads the link. */
    private final List<Responder> pending = new ArrayList<>();

    /** @param move sends pending answers */
    AnswerRing(DeviceCore device, Runnable move) {
        this.device = device;
        this.move = move;
        for (int i = 0; i < CAPACITY; i++) {
            ring[i] = new Answer();
        }
    }

    boolean isFull() {
        return added.get() - removed.get() == CAPACITY;
    }

    /** Remembers a responder for {@link #acknowledgePending}. */
    void addPending(Responder responder) {
        pending.add(responder);
    }

    /** Acknowledges pending messages while there is room. Called by the thread that reads the link. */
    void acknowledgePending() {
        while (!pending.isEmpty() && !isFull()) {
            pending.removeLast().acknowledgePending(this);
        }
    }

    void acknowledge(MemorySegment request, long at) {
        acknowledge(request.get(INT, at + FrameLayout.SOURCE), request.get(INT, at + FrameLayout.PACKET));
    }

    void acknowledge(int queuePair, int packet) {
        next(FrameLayout.ACKNOWLEDGE, queuePair, packet);
        publish();
    }

    void refuse(MemorySegment request, long at, Refusal refusal, long detail) {
        Answer answer = next(FrameLayout.REFUSE, request, at);
        answer.reason = refusal.ordinal();
        answer.value = detail;
        publish();
    }

    void atomic(MemorySegment request, long at, long oldValue) {
        next(FrameLayout.ATOMIC_VALUE, request, at).value = oldValue;
        publish();
    }

    void read(Responder responder, DomainMemory memory, MemorySegment request, long at, long length) {
        Answer answer = next(FrameLayout.READ_DATA, request, at);
        answer.responder = responder;
        answer.memory = memory;
        answer.key = request.get(INT, at + FrameLayout.REMOTE_KEY);
        answer.address = request.get(LONG, at + FrameLayout.REMOTE_ADDRESS);
        answer.length = length;
        answer.sent = 0;
        publish();
    }

    private Answer next(int kind, MemorySegment request, long at) {
        return next(kind, request.get(INT, at + FrameLayout.SOURCE), request.get(INT, at + FrameLayout.PACKET));
    }

    private Answer next(int kind, int queuePair, int packet) {
        Answer answer = ring[(int) added.get() & CAPACITY - 1];
        answer.kind = kind;
        answer.reason = 0;
        answer.value = 0;
        answer.queuePair = queuePair;
        answer.packet = packet;
        long latency = device.faults().latencyNanos();
        answer.due = latency == 0 ? 0 : System.nanoTime() + latency;
        return answer;
    }

    private void publish() {
        // Pairs with the load in fill; the answer's fields are written before it.
        added.incrementAndGet();
    }

    void fill(SendBuffer out) {
        while (removed.get() != added.get()) {
            Answer answer = ring[(int) removed.get() & CAPACITY - 1];
            if (answer.due != 0 && isEarly(answer)) {
                return;
            }
            boolean whole = answer.kind == FrameLayout.READ_DATA ? writeRead(answer, out) : write(answer, out);
            if (!whole) {
                return;
            }
            removed.incrementAndGet();
        }
    }

    private boolean isEarly(Answer answer) {
        long early = answer.due - System.nanoTime();
        if (early > 0) {
            device.links().later(move, early);
        }
        return early > 0;
    }

    private static boolean write(Answer answer, SendBuffer out) {
        if (!out.hasRoom(FrameLayout.RESPONSE_BYTES)) {
            return false;
        }
        MemorySegment memory = out.memory();
        int at = out.position();
        head(answer, out, 0, answer.kind, answer.reason);
        memory.set(LONG, at + FrameLayout.VALUE, answer.value);
        out.advance(FrameLayout.RESPONSE_BYTES);
        return true;
    }

    /** Returns false if the buffer has no room for all of the answer. */
    private static boolean writeRead(Answer answer, SendBuffer out) {
        do {
            int payload = (int) Math.min(FrameLayout.MAX_PAYLOAD, answer.length - answer.sent);
            if (!out.hasRoom(FrameLayout.RESPONSE_BYTES + payload)) {
                return false;
            }
            if (payload > 0
                    && !answer.memory.load(
                            answer.key,
                            answer.address + answer.sent,
                            out.memory(),
                            out.position() + FrameLayout.RESPONSE_BYTES,
                            payload,
                            Access.REMOTE_READ.bit())) {
                head(answer, out, 0, FrameLayout.REFUSE, Refusal.ACCESS.ordinal());
                out.advance(FrameLayout.RESPONSE_BYTES);
                break;
            }
            head(answer, out, payload, FrameLayout.READ_DATA, 0);
            out.advance(FrameLayout.RESPONSE_BYTES + payload);
            answer.sent += payload;
        } while (answer.sent < answer.length);
        answer.responder.readAnswered();
        return true;
    }

    private static void head(Answer answer, SendBuffer out, int payload, int kind, int reason) {
        MemorySegment memory = out.memory();
        int at = out.position();
        FrameLayout.start(memory, at, FrameLayout.RESPONSE_BYTES + payload, kind, reason);
        memory.set(INT, at + FrameLayout.DESTINATION, answer.queuePair);
        memory.set(INT, at + FrameLayout.RESPONSE_PACKET, answer.packet);
        memory.set(INT, at + FrameLayout.RESPONSE_OFFSET, (int) answer.sent);
        memory.set(INT, at + FrameLayout.RESPONSE_LENGTH, (int) answer.length);
        memory.set(LONG, at + FrameLayout.VALUE, 0);
    }
}
