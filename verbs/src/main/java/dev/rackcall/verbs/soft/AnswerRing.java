package dev.rackcall.verbs.soft;

import static dev.rackcall.verbs.soft.FrameLayout.INT;
import static dev.rackcall.verbs.soft.FrameLayout.LONG;

import dev.rackcall.verbs.Access;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Answers that have not left yet, in order. Filled by the thread that reads the connection, emptied by the one that moves its outgoing
 * traffic. What a READ asked for is fetched from memory only when it leaves. Bounded: while it is full, no requests are read.
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
        SoftProtectionDomain domain;
        int key;
        long address;
        long length;
        long sent;
    }

    private final ResponderLink link;
    private final Answer[] ring = new Answer[CAPACITY];
    private final AtomicLong added = new AtomicLong();
    private final AtomicLong removed = new AtomicLong();

    AnswerRing(ResponderLink link) {
        this.link = link;
        for (int i = 0; i < CAPACITY; i++) {
            ring[i] = new Answer();
        }
    }

    boolean isFull() {
        return added.get() - removed.get() == CAPACITY;
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

    void read(Responder responder, SoftProtectionDomain domain, MemorySegment request, long at, long length) {
        Answer answer = next(FrameLayout.READ_DATA, request, at);
        answer.responder = responder;
        answer.domain = domain;
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
        long latency = link.context().faults().latencyNanos();
        answer.due = latency == 0 ? 0 : System.nanoTime() + latency;
        return answer;
    }

    private void publish() {
        // Pairs with the look in fill; the answer's fields come before it.
        added.incrementAndGet();
    }

    void fill(Outbox out) {
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
            link.context().later(link::move, early);
        }
        return early > 0;
    }

    private static boolean write(Answer answer, Outbox out) {
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

    /** @return false if there is no room for all of it */
    private static boolean writeRead(Answer answer, Outbox out) {
        do {
            int payload = (int) Math.min(FrameLayout.MAX_PAYLOAD, answer.length - answer.sent);
            if (!out.hasRoom(FrameLayout.RESPONSE_BYTES + payload)) {
                return false;
            }
            if (payload > 0 && !load(answer, out, payload)) {
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

    private static boolean load(Answer answer, Outbox out, int payload) {
        SoftMemoryRegion region = answer.domain.region(answer.key);
        long address = answer.address + answer.sent;
        if (region == null
                || !region.allows(answer.domain, address, payload, Access.REMOTE_READ.bit())
                || !region.enter()) {
            return false;
        }
        try {
            region.load(address, out.memory(), out.position() + FrameLayout.RESPONSE_BYTES, payload);
            return true;
        } catch (IllegalStateException | InternalError gone) {
            return false;
        } finally {
            region.exit();
        }
    }

    private static void head(Answer answer, Outbox out, int payload, int kind, int reason) {
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
