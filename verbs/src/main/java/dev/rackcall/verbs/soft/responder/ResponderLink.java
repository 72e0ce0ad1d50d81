package dev.rackcall.verbs.soft.responder;

import static dev.rackcall.verbs.soft.wire.FrameLayout.INT;
import static dev.rackcall.verbs.soft.wire.FrameLayout.LONG;

import dev.rackcall.verbs.AsyncEvent;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.Opcode;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.soft.queue.DeviceCore;
import dev.rackcall.verbs.soft.queue.QueuePairCore;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import dev.rackcall.verbs.soft.wire.Link;
import dev.rackcall.verbs.soft.wire.LinkHello;
import dev.rackcall.verbs.soft.wire.Refusal;
import dev.rackcall.verbs.soft.wire.SendBuffer;
import dev.rackcall.verbs.soft.wire.WireViolation;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;

/** A link that another device made: its requests arrive, answers leave. */
public final class ResponderLink extends Link {
    private static final int MAX_CONVERSATIONS = 4096;

    private final DeviceCore device;
    private final String from;
    private final IntFunction<ReceiveSide> receivers;
    private final ResponderLinks links;
    private final AnswerRing answers;
    /** Responders for the DC initiators of the peer, by target and initiator number. */
    private final Map<Long, Responder> conversations = new HashMap<>();

    /**
     * The conversation of the last frame. Most frames belong to the same one, and a lookup allocates a boxed number.
     */
    private long lastName;

    private Responder lastResponder;
    private volatile Gid peer = Gid.NONE;

    ResponderLink(DeviceCore device, String from, IntFunction<ReceiveSide> receivers, ResponderLinks links) {
        super(device.links());
        this.device = device;
        this.from = from;
        this.receivers = receivers;
        this.links = links;
        answers = new AnswerRing(device, this::move);
    }

    @Override
    protected void established() {
        // The connecting side sends its hello first.
    }

    @Override
    protected void hello(MemorySegment hello, long at) throws WireViolation {
        peer = LinkHello.source(hello, at);
        if (LinkHello.isOurs(hello, at)) {
            LinkHello.Answer answer = links.judge(hello, at);
            send(LinkHello.write(device.gid(), peer, answer), answer == LinkHello.Answer.ACCEPTED);
            if (answer != LinkHello.Answer.ACCEPTED) {
                throw new WireViolation("the hello was rejected: " + answer);
            }
        }
        LinkHello.check(hello, at);
    }

    @Override
    protected int smallestFrame() {
        return FrameLayout.REQUEST_BYTES;
    }

    @Override
    protected boolean isCongested() {
        return answers.isFull();
    }

    @Override
    protected void fill(SendBuffer out) {
        answers.fill(out);
        if (!answers.isFull()) {
            incoming().relieved();
        }
    }

    @Override
    protected void frame(MemorySegment memory, long at, int length) throws WireViolation {
        int kind = FrameLayout.kind(memory, at);
        if (kind > Opcode.FETCH_AND_ADD.code() && kind != FrameLayout.DATAGRAM) {
            throw new WireViolation("a request of kind " + kind);
        }
        int payload = length - FrameLayout.REQUEST_BYTES;
        ReceiveSide side = receivers.apply(memory.get(INT, at + FrameLayout.DESTINATION));
        QueuePairCore core = side == null || !side.core().isReceiving() ? null : side.core();
        if (kind == FrameLayout.DATAGRAM) {
            if (core != null && core.type() == QueuePairType.UD) {
                side.datagram(memory, at, payload, peer);
            }
        } else if (core != null
                && core.type() == QueuePairType.RC
                && core.isPeer(peer, memory.get(INT, at + FrameLayout.SOURCE))) {
            AsyncEvent.Type violation = side.responder().handle(memory, at, payload, answers);
            if (violation != AsyncEvent.Type.UNKNOWN) {
                core.violated(violation);
            }
        } else if (core != null && core.type() == QueuePairType.DC_TARGET) {
            converse(side, memory, at, payload);
        } else {
            answers.refuse(memory, at, Refusal.NO_ANSWER, 0);
        }
    }

    private void converse(ReceiveSide side, MemorySegment memory, long at, int payload) throws WireViolation {
        long name = ((long) side.core().number() << Integer.SIZE)
                | Integer.toUnsignedLong(memory.get(INT, at + FrameLayout.SOURCE));
        boolean begins = (FrameLayout.flags(memory, at) & FrameLayout.CONNECTS) != 0
                && memory.get(INT, at + FrameLayout.OFFSET) == 0;
        if (begins) {
            if (side.core().spec().targetKey() != memory.get(LONG, at + FrameLayout.TARGET_KEY)) {
                answers.refuse(memory, at, Refusal.ACCESS, 0);
                return;
            }
            if (conversations.size() == MAX_CONVERSATIONS && !conversations.containsKey(name)) {
                throw new WireViolation("more than " + MAX_CONVERSATIONS + " initiators on one link");
            }
            conversations
                    .computeIfAbsent(name, fresh -> new Responder(side.core(), side))
                    .start(memory.get(INT, at + FrameLayout.PACKET));
        }
        if (begins || name != lastName) {
            lastResponder = conversations.get(name);
            lastName = name;
        }
        Responder responder = lastResponder;
        if (responder == null) {
            answers.refuse(memory, at, Refusal.NO_ANSWER, 0);
        } else if (responder.handle(memory, at, payload, answers) == AsyncEvent.Type.QP_FATAL) {
            side.core().completionLost();
        }
    }

    /**
     * Sends acknowledgements that were not requested. Called by the device's timer and before a queue pair is reset.
     */
    void acknowledgePending() {
        incoming().whileNotReading(answers::acknowledgePending);
        move();
    }

    @Override
    protected void over() {
        // Queue pairs are not notified: as with hardware, they do not notice the end of their peer.
        links.ended(this);
    }

    @Override
    public String toString() {
        return device.name() + " from " + from;
    }
}
