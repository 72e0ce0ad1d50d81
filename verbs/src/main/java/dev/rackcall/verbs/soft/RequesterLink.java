package dev.rackcall.verbs.soft;

import static dev.rackcall.verbs.soft.FrameLayout.INT;
import static dev.rackcall.verbs.soft.FrameLayout.LONG;

import dev.rackcall.verbs.Gid;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicBoolean;

/** A connection that this device made: requests go out, answers come back. All queue pairs that talk to that device share it. */
final class RequesterLink extends Link {
    private final Gid target;
    private final AtomicBoolean fresh = new AtomicBoolean(true);
    private final ArrayDeque<SendQueue> active = new ArrayDeque<>();

    RequesterLink(SoftContext context, Gid target) {
        super(context);
        this.target = target;
    }

    /** True once: for the one who has to connect it. */
    boolean isFresh() {
        return fresh.getAndSet(false);
    }

    Gid target() {
        return target;
    }

    @Override
    void greet() {
        send(Greeting.write(context().gid(), target, Greeting.Answer.WELCOME), false);
    }

    @Override
    void greeted(MemorySegment greeting, long at) throws ProtocolException {
        Greeting.check(greeting, at);
        Greeting.Answer answer = Greeting.answer(greeting, at);
        if (answer != Greeting.Answer.WELCOME) {
            throw new ProtocolException("turned away: " + answer);
        }
        if (!Greeting.source(greeting, at).equals(target)) {
            throw new ProtocolException("another device answers in its place");
        }
        becomeSendable();
    }

    /** This queue pair has something to send over this connection; {@link #move} sends it. */
    void activate(SendQueue queue) {
        synchronized (active) {
            if (queue.queuedAt(this)) {
                active.add(queue);
            }
        }
    }

    /** The same after a while. */
    void activateLater(SendQueue queue, long nanos) {
        context()
                .later(
                        () -> {
                            activate(queue);
                            move();
                        },
                        nanos);
    }

    private SendQueue nextActive() {
        synchronized (active) {
            SendQueue queue = active.poll();
            if (queue != null) {
                queue.dequeued();
            }
            return queue;
        }
    }

    @Override
    void fill(Outbox out) {
        for (SendQueue queue = nextActive(); queue != null; queue = nextActive()) {
            switch (queue.owner().transmit(this, out)) {
                case IDLE -> {}
                case FULL -> {
                    // At the end of the row: the others come first now.
                    activate(queue);
                    return;
                }
                case ELSEWHERE -> queue.owner().pushUnsent();
            }
        }
    }

    @Override
    int smallestFrame() {
        return FrameLayout.RESPONSE_BYTES;
    }

    @Override
    boolean isCongested() {
        return false;
    }

    @Override
    void frame(MemorySegment memory, long at, int length) throws ProtocolException {
        SoftQueuePair owner = context().queuePairs().get(memory.get(INT, at + FrameLayout.DESTINATION));
        if (owner == null || !owner.expectsAnswersOver(this)) {
            return;
        }
        int packet = memory.get(INT, at + FrameLayout.RESPONSE_PACKET) & FrameLayout.PACKET_MASK;
        AnswerReader queue = owner.sendQueue().answers();
        long pause = -1;
        synchronized (owner) {
            switch (FrameLayout.kind(memory, at)) {
                case FrameLayout.ACKNOWLEDGE -> queue.acknowledged(packet);
                case FrameLayout.READ_DATA ->
                    queue.data(
                            packet,
                            memory.get(INT, at + FrameLayout.RESPONSE_OFFSET),
                            memory,
                            at + FrameLayout.RESPONSE_BYTES,
                            length - FrameLayout.RESPONSE_BYTES);
                case FrameLayout.ATOMIC_VALUE -> queue.value(packet, memory, at + FrameLayout.VALUE);
                case FrameLayout.REFUSE -> {
                    Refusal refusal = Refusal.ofCode(FrameLayout.flags(memory, at));
                    pause = queue.refused(packet, refusal, memory.get(LONG, at + FrameLayout.VALUE));
                }
                default -> throw new ProtocolException("an answer of kind " + FrameLayout.kind(memory, at));
            }
        }
        if (pause >= 0) {
            context().later(owner::resume, pause);
        } else {
            answered(owner);
        }
    }

    /** An answer may set free what waited for it, here or, with DC, on the way to another target. */
    private void answered(SoftQueuePair owner) {
        if (owner.expectsAnswersOver(this)) {
            activate(owner.sendQueue());
        } else {
            owner.pushUnsent();
        }
    }

    @Override
    void afterFrames() {
        move();
    }

    @Override
    void over() {
        context().queuePairs().all().forEach(owner -> owner.linkEnded(this));
    }

    @Override
    public String toString() {
        return context().device().name() + " to " + SoftGid.address(target);
    }
}
