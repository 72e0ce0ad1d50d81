package dev.rackcall.verbs.soft;

import static dev.rackcall.verbs.soft.FrameLayout.INT;
import static dev.rackcall.verbs.soft.FrameLayout.LONG;

import dev.rackcall.verbs.AsyncEvent;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.Opcode;
import dev.rackcall.verbs.QueuePairType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A connection that another device made: its requests come in, answers go out. */
final class ResponderLink extends Link {
    private static final int MAX_CONVERSATIONS = 4096;

    private final String from;
    private final AnswerRing answers;
    /** What DC initiators of the peer do at targets here, by target and initiator number. */
    private final Map<Long, Responder> conversations = new HashMap<>();

    /** The conversation of the last frame: most frames belong to the same one, and looking up costs a boxed number. */
    private long lastName;

    private Responder lastResponder;
    private final List<Responder> owing = new ArrayList<>();
    private volatile Gid peer = Gid.NONE;

    ResponderLink(SoftContext context, String from) {
        super(context);
        this.from = from;
        answers = new AnswerRing(this);
    }

    @Override
    void greet() {
        // The side that connected begins.
    }

    @Override
    void greeted(MemorySegment greeting, long at) throws ProtocolException {
        peer = Greeting.source(greeting, at);
        if (Greeting.isOurs(greeting, at)) {
            Greeting.Answer answer = context().judge(greeting, at);
            send(Greeting.write(context().gid(), peer, answer), answer == Greeting.Answer.WELCOME);
            if (answer != Greeting.Answer.WELCOME) {
                throw new ProtocolException("turned away: " + answer);
            }
        }
        Greeting.check(greeting, at);
    }

    @Override
    int smallestFrame() {
        return FrameLayout.REQUEST_BYTES;
    }

    @Override
    boolean isCongested() {
        return answers.isFull();
    }

    @Override
    void fill(Outbox out) {
        answers.fill(out);
        if (!answers.isFull()) {
            interest().relieved();
        }
    }

    @Override
    void frame(MemorySegment memory, long at, int length) throws ProtocolException {
        int kind = FrameLayout.kind(memory, at);
        if (kind > Opcode.FETCH_AND_ADD.code() && kind != FrameLayout.DATAGRAM) {
            throw new ProtocolException("a request of kind " + kind);
        }
        int payload = length - FrameLayout.REQUEST_BYTES;
        SoftQueuePair owner = context().queuePairs().get(memory.get(INT, at + FrameLayout.DESTINATION));
        if (kind == FrameLayout.DATAGRAM) {
            if (owner != null && owner.type() == QueuePairType.UD && owner.isReceiving()) {
                datagram(owner, memory, at, payload);
            }
        } else if (owner != null
                && owner.isReceiving()
                && owner.type() == QueuePairType.RC
                && owner.peer().isPeer(peer, memory.get(INT, at + FrameLayout.SOURCE))) {
            AsyncEvent.Type violation = owner.receiveSide().responder().handle(memory, at, payload, this);
            if (violation != AsyncEvent.Type.UNKNOWN) {
                owner.violated(violation);
            }
        } else if (owner != null && owner.isReceiving() && owner.type() == QueuePairType.DC_TARGET) {
            converse(owner, memory, at, payload);
        } else {
            answers.refuse(memory, at, Refusal.NO_ANSWER, 0);
        }
    }

    private void datagram(SoftQueuePair owner, MemorySegment memory, long at, int payload) {
        if (!owner.receiveSide().datagrams().handle(memory, at, payload, peer)) {
            owner.completionLost();
        }
    }

    private void converse(SoftQueuePair owner, MemorySegment memory, long at, int payload) throws ProtocolException {
        long name = ((long) owner.number() << Integer.SIZE)
                | Integer.toUnsignedLong(memory.get(INT, at + FrameLayout.SOURCE));
        boolean begins = (FrameLayout.flags(memory, at) & FrameLayout.CONNECTS) != 0
                && memory.get(INT, at + FrameLayout.OFFSET) == 0;
        if (begins) {
            if (owner.spec().targetKey() != memory.get(LONG, at + FrameLayout.TARGET_KEY)) {
                answers.refuse(memory, at, Refusal.ACCESS, 0);
                return;
            }
            if (conversations.size() == MAX_CONVERSATIONS && !conversations.containsKey(name)) {
                throw new ProtocolException("more than " + MAX_CONVERSATIONS + " initiators on one connection");
            }
            conversations
                    .computeIfAbsent(name, fresh -> new Responder(owner, owner.receiveSide()))
                    .start(memory.get(INT, at + FrameLayout.PACKET));
        }
        if (begins || name != lastName) {
            lastResponder = conversations.get(name);
            lastName = name;
        }
        Responder responder = lastResponder;
        if (responder == null) {
            answers.refuse(memory, at, Refusal.NO_ANSWER, 0);
        } else if (responder.handle(memory, at, payload, this) == AsyncEvent.Type.QP_FATAL) {
            owner.completionLost();
        }
    }

    void acknowledge(MemorySegment request, long at) {
        acknowledge(request.get(INT, at + FrameLayout.SOURCE), request.get(INT, at + FrameLayout.PACKET));
    }

    void acknowledge(int queuePair, int packet) {
        answers.acknowledge(queuePair, packet);
    }

    /** This one has done something that nobody asked to have acknowledged. By the thread that reads the connection. */
    void owes(Responder responder) {
        owing.add(responder);
    }

    /** Acknowledges what is owed. By the device's timer, and before it closes. */
    void settle() {
        incoming().whileNotReading(() -> {
            while (!owing.isEmpty() && !answers.isFull()) {
                owing.removeLast().settle(this);
            }
        });
        move();
    }

    void refuse(MemorySegment request, long at, Refusal refusal, long detail) {
        answers.refuse(request, at, refusal, detail);
    }

    void answerRead(Responder responder, SoftQueuePair owner, MemorySegment request, long at, long length) {
        answers.read(responder, owner.domain(), request, at, length);
    }

    void answerAtomic(MemorySegment request, long at, long oldValue) {
        answers.atomic(request, at, oldValue);
    }

    @Override
    void afterFrames() {
        move();
    }

    @Override
    void over() {
        // A connected queue pair learns nothing from its peer's end, as with hardware.
    }

    @Override
    public String toString() {
        return context().device().name() + " from " + from;
    }
}
