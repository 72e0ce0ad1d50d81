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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A link that another device made: its requests arrive, answers leave. */
public final class ResponderLink extends Link {
    private static final int MAX_CONVERSATIONS = 4096;
    /** How long the last link of the same peer may take to end: its peer has closed it, but this side reads it later. */
    private static final int CLAIM_TRIES = 10;

    private static final long CLAIM_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final DeviceCore device;
    private final InetSocketAddress from;
    private final ResponderLinks.QueuePairs queuePairs;
    private final ResponderLinks links;
    private final long since = System.nanoTime();
    private final WrongPackets wrong = new WrongPackets();
    /** Null until the peer is accepted. */
    private AnswerRing answers;

    /** Whether its hello is proven, but another link has its GID. */
    private volatile boolean claiming;

    private volatile boolean converses;
    /** Whether a frame has arrived since the last tick. Used by the thread that reads the link. */
    private boolean active;
    /** When a frame arrived last, to the accuracy of a tick. */
    private volatile long heard = since;

    /** Responders for the DC initiators of the peer, by target and initiator number. */
    private final Map<Long, Responder> conversations = new HashMap<>();

    /**
     * The conversation of the last frame. Most frames belong to the same one, and a lookup allocates a boxed number.
     */
    private long lastName;

    private Responder lastResponder;
    private volatile Gid peer = Gid.NONE;

    ResponderLink(
            DeviceCore device, InetSocketAddress from, ResponderLinks.QueuePairs queuePairs, ResponderLinks links) {
        super(device.links());
        this.device = device;
        this.from = from;
        this.queuePairs = queuePairs;
        this.links = links;
    }

    InetAddress from() {
        return from.getAddress();
    }

    /** The peer's GID, once it is proven. */
    Gid peer() {
        return peer;
    }

    /** Whether a DC initiator of the peer has begun a conversation. */
    boolean converses() {
        return converses;
    }

    long heard() {
        return heard;
    }

    @Override
    protected byte[] peerKey() {
        return super.peerKey();
    }

    @Override
    protected void established() {
        // The connecting side sends its hello first.
    }

    @Override
    protected void hello(MemorySegment hello, long at) throws WireViolation {
        if (!LinkHello.isOurs(hello, at)) {
            LinkHello.check(hello, at);
        }
        LinkHello.Answer answer = links.judge(this, hello, at);
        if (answer == LinkHello.Answer.ACCEPTED) {
            peer = LinkHello.source(hello, at);
            answer = links.admit(this);
        }
        switch (answer) {
            case ACCEPTED -> accepted();
            case GID_IN_USE -> {
                claiming = true;
                claimLater(1);
            }
            default -> refuse(answer, LinkHello.source(hello, at));
        }
    }

    private void accepted() {
        answers = new AnswerRing(device, this::move);
        incoming().open();
        claiming = false;
        send(LinkHello.write(device.gid(), device.proofFor(peer), peer), true);
    }

    private void claimLater(int tries) {
        device.links().later(() -> claim(tries), CLAIM_NANOS);
    }

    private void claim(int tries) {
        if (isEnded()) {
            return;
        }
        LinkHello.Answer answer = links.admit(this);
        if (answer == LinkHello.Answer.ACCEPTED) {
            accepted();
            incoming().relieved();
        } else if (answer == LinkHello.Answer.GID_IN_USE && tries < CLAIM_TRIES) {
            claimLater(tries + 1);
        } else {
            refuse(answer, peer);
        }
    }

    private void refuse(LinkHello.Answer answer, Gid claimed) {
        send(LinkHello.refusal(answer), false);
        fail("refused: " + answer + ", it claims GID " + claimed);
    }

    /** Ends a half-open link that is too old. */
    void expire(long now) {
        if (now - since > HELLO_NANOS) {
            expireHello();
        }
    }

    /** Makes room for another link. */
    void retire(String why) {
        fail(why);
    }

    /** Called about ten times a second, on the event loop, for accepted links. */
    void tick(long now) {
        incoming().whileNotReading(() -> {
            wrong.decay();
            if (active) {
                active = false;
                heard = now;
            }
        });
    }

    @Override
    protected int smallestFrame() {
        return FrameLayout.REQUEST_BYTES;
    }

    @Override
    protected boolean isCongested() {
        return claiming || (answers != null && answers.isFull());
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
        active = true;
        int payload = length - FrameLayout.REQUEST_BYTES;
        int number = memory.get(INT, at + FrameLayout.DESTINATION);
        ReceiveSide side = queuePairs.get(number);
        QueuePairCore core = side == null || !side.core().isReceiving() ? null : side.core();
        if (core == null) {
            if (!queuePairs.hasKnown(number)) {
                wrong.add(number, 0);
            }
            if (kind != FrameLayout.DATAGRAM) {
                answers.refuse(memory, at, Refusal.NO_ANSWER, 0);
            }
        } else if (kind == FrameLayout.DATAGRAM) {
            if (core.type() == QueuePairType.UD) {
                side.datagram(memory, at, payload, peer);
            }
        } else if (core.type() == QueuePairType.RC && core.isPeer(peer, memory.get(INT, at + FrameLayout.SOURCE))) {
            Responder responder = side.responder();
            AsyncEvent.Type violation = responder.handle(memory, at, payload, answers, wrong);
            if (violation != AsyncEvent.Type.UNKNOWN) {
                core.violated(violation, responder::completeRefused);
            }
        } else if (core.type() == QueuePairType.DC_TARGET) {
            converse(side, memory, at, payload);
        } else {
            wrong.add(number, memory.get(INT, at + FrameLayout.SOURCE));
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
                wrong.add(side.core().number(), memory.get(INT, at + FrameLayout.TARGET_KEY));
                answers.refuse(memory, at, Refusal.ACCESS, 0);
                return;
            }
            converses = true;
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
            return;
        }
        boolean isLost = responder.handle(memory, at, payload, answers, wrong) == AsyncEvent.Type.QP_FATAL;
        responder.completeRefused();
        if (isLost) {
            side.core().completionLost();
        }
    }

    /**
     * Sends acknowledgements that were not requested. Called by the device's timer and before a queue pair is reset.
     */
    void acknowledgePending() {
        incoming().whileNotReading(() -> {
            if (answers != null) {
                answers.acknowledgePending();
            }
        });
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
