package dev.rackcall.verbs.soft.requester;

import static dev.rackcall.verbs.soft.wire.FrameLayout.INT;

import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.Unreachable;
import dev.rackcall.verbs.soft.queue.DeviceCore;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import dev.rackcall.verbs.soft.wire.Link;
import dev.rackcall.verbs.soft.wire.LinkHello;
import dev.rackcall.verbs.soft.wire.SendBuffer;
import dev.rackcall.verbs.soft.wire.SoftGid;
import dev.rackcall.verbs.soft.wire.WireViolation;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * A link that this device made: requests leave on it, answers return. All queue pairs that talk to the target device
 * share it.
 */
public final class RequesterLink extends Link {
    private final DeviceCore device;
    private final Gid target;
    private final IntFunction<? extends Sender> senders;
    private final Consumer<RequesterLink> ended;
    private final AtomicBoolean fresh = new AtomicBoolean(true);
    private volatile boolean isAccepted;
    private volatile boolean isRefusedAsFull;
    private final ArrayDeque<Sender> active = new ArrayDeque<>();

    RequesterLink(DeviceCore device, Gid target, IntFunction<? extends Sender> senders, Consumer<RequesterLink> ended) {
        super(device.links());
        this.device = device;
        this.target = target;
        this.senders = senders;
        this.ended = ended;
    }

    /** True once: for the thread that has to connect it. */
    boolean isFresh() {
        return fresh.getAndSet(false);
    }

    Gid target() {
        return target;
    }

    @Override
    protected void established() {
        send(LinkHello.write(device.gid(), device.proofFor(target), target), false);
        expectHello();
    }

    @Override
    protected void hello(MemorySegment hello, long at) throws WireViolation {
        LinkHello.check(hello, at);
        LinkHello.Answer answer = LinkHello.answer(hello, at);
        isRefusedAsFull = answer == LinkHello.Answer.TOO_MANY_PEERS;
        if (answer != LinkHello.Answer.ACCEPTED) {
            fail("it refuses this device (" + answer + "): " + answer.text());
            return;
        }
        if (!LinkHello.source(hello, at).equals(target)
                || !device.isProven(target, LinkHello.proof(hello, at), peerKey())) {
            throw new WireViolation("another device answers in its place");
        }
        isAccepted = true;
        incoming().open();
        becomeSendable();
    }

    boolean isAccepted() {
        return isAccepted;
    }

    /** Why the target cannot be reached, if this link ended before the target accepted it. */
    Optional<Unreachable> failure() {
        return isAccepted || !isEnded() ? Optional.empty() : Optional.of(new Unreachable(isRefusedAsFull, ending()));
    }

    /** Adds a sender that has requests for this link; {@link #move} sends them. */
    void activate(Sender sender) {
        synchronized (active) {
            if (sender.enterRow(this)) {
                active.add(sender);
            }
        }
    }

    /** Adds a sender and sends its requests after this time. */
    void activateLater(Sender sender, long nanos) {
        device.links()
                .later(
                        () -> {
                            activate(sender);
                            move();
                        },
                        nanos);
    }

    private Sender nextActive() {
        synchronized (active) {
            Sender sender = active.poll();
            if (sender != null) {
                sender.leaveRow();
            }
            return sender;
        }
    }

    @Override
    protected void fill(SendBuffer out) {
        for (Sender sender = nextActive(); sender != null; sender = nextActive()) {
            switch (sender.transmit(this, out)) {
                case IDLE -> {}
                case FULL -> {
                    // Back to the end of the row: other senders have their turn first.
                    activate(sender);
                    return;
                }
                case ELSEWHERE -> sender.pushUnsent();
            }
        }
    }

    @Override
    protected int smallestFrame() {
        return FrameLayout.RESPONSE_BYTES;
    }

    @Override
    protected boolean isCongested() {
        return false;
    }

    @Override
    protected void frame(MemorySegment memory, long at, int length) throws WireViolation {
        Sender sender = senders.apply(memory.get(INT, at + FrameLayout.DESTINATION));
        if (sender == null || !sender.expectsAnswersOver(this)) {
            return;
        }
        long pause = sender.answered(memory, at, length);
        if (pause >= 0) {
            device.links().later(sender::resume, pause);
        } else if (sender.expectsAnswersOver(this)) {
            // The answer may release requests that waited for it.
            activate(sender);
        } else {
            // With DC, the released requests may go to another target.
            sender.pushUnsent();
        }
    }

    @Override
    protected void over() {
        ended.accept(this);
    }

    @Override
    public String toString() {
        return device.name() + " to " + SoftGid.address(target);
    }
}
