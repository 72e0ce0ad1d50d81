package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.os.Futex;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;

/**
 * The server's end of a connection: takes requests in slot order and wakes callers that sleep. Only the poller that owns it calls
 * {@link #poll} and {@link #unwatch}; responses may be published by any thread.
 *
 * <p>Nothing that the client writes is trusted: a request either names a method, fits its payload into the slot or the client's own arena, and finds its
 * slot idle, or it ends the connection.
 */
public final class ShmServerConnection implements Relief.Served {
    /** Requests taken in one turn, so that one client that always has more cannot starve the others of its poller. */
    private static final int REQUESTS_PER_TURN = 64;
    /** Handlers of one client that may keep a thread each, before its further requests wait for one of them. */
    private static final int MAX_STUCK = 8;

    private static final int CONNECTED = -1;

    public final ServerEnd link;
    final ServiceBinding service;
    final MemorySegment memory;
    final ServerStreams streams = new ServerStreams();
    final ConnectionUse use;
    final PayloadBudget payloads;

    private final Handlers handlers;
    private final ShmServerCall[] calls;
    private final int mask;
    private final AtomicInteger stuck = new AtomicInteger();

    private final LongConsumer cancelling = this::cancel;

    /** Requests taken so far. Poller only. */
    private long head;
    /** What the client was last told of {@link #head}. Poller only. */
    private long publishedHead;
    /** Consecutive turns without a request. Poller only. */
    private int emptyTurns;
    /** Responses were published on the poller's thread since it last looked for sleepers. Poller only. */
    private boolean answered;
    /** How many requests of a client that has hung up are still served, or {@link #CONNECTED}. Poller only. */
    private int requestsLeft = CONNECTED;
    /** By slot, 1 + the ticket of a request that was cancelled, beside the slots, before it was taken from its slot; null until the first. Poller only. */
    private long[] cancelledEarly;

    /** Where the poller keeps it in its list; -1: not watched. Poller only. */
    int position = -1;

    ShmServerConnection(ServerEnd link, ServiceBinding service, Handlers handlers) {
        this.link = link;
        this.service = service;
        this.handlers = handlers;
        this.memory = link.memory();
        this.use = new ConnectionUse(link::release, link.count());
        this.payloads = new PayloadBudget(link.requestMemory().byteSize());
        this.mask = link.slots() - 1;
        this.calls = new ShmServerCall[link.slots()];
    }

    /** Whether the next request is there, and may be taken. */
    boolean hasRequest() {
        return !isJammed() && SlotLayout.isOf(nextWord(), head);
    }

    @Override
    public String channel() {
        return service.channel();
    }

    @Override
    public void handlerIsStuck() {
        use.callStarts();
        stuck.incrementAndGet();
    }

    /** If the connection was jammed, the poller has to watch it again. */
    @Override
    public void handlerIsBack() {
        stuck.decrementAndGet();
    }

    private boolean isJammed() {
        return stuck.get() >= MAX_STUCK;
    }

    /**
     * Takes and serves requests; returns how many.
     *
     * @param patience how often to look once more, with a pause before, if no request is there
     * @throws ProtocolBreachException if the client broke the protocol; the connection must be closed
     */
    int poll(Relief<ShmServerConnection> duty, int patience) throws ProtocolBreachException {
        if (isJammed()) {
            settle();
            emptyTurns++;
            return 0;
        }
        long word = nextWord();
        if (!SlotLayout.isOf(word, head)) {
            settle();
            word = link.isMirrored() ? lookOut() : await(word, patience);
        }
        int taken = 0;
        int slice = duty.slice();
        while (SlotLayout.isOf(word, head) && taken < REQUESTS_PER_TURN && slice == duty.slice()) {
            long ticket = head;
            head = ticket + 1;
            taken++;
            if ((SlotLayout.flags(word) & SlotLayout.SKIP) == 0) {
                serve(duty, callAt((int) ticket & mask), ticket, word);
                if (!duty.isOnDuty()) {
                    return taken;
                }
            }
            word = nextWord();
        }
        if (SlotLayout.isOf(word, head)) {
            // There may never be a turn without a request, and somebody who sleeps, or looks how far we are, may wait.
            settle();
        }
        emptyTurns = taken == 0 ? emptyTurns + 1 : 0;
        return taken;
    }

    /** Requests that have come and were not taken, as far as no slot between them is empty. Poller only. */
    int waitingRequests() {
        int count = 0;
        while (count <= mask
                && SlotLayout.isOf(
                        SlotLayout.requestWord(memory, ControlLayout.slot((int) (head + count) & mask)),
                        head + count)) {
            count++;
        }
        return count;
    }

    private long await(long seen, int patience) {
        long word = seen;
        for (int i = 0; i < patience && !SlotLayout.isOf(word, head); i++) {
            Thread.onSpinWait();
            word = nextWord();
        }
        return word;
    }

    /** How many pauses a turn without a request takes, if it is {@code paused} where requests arrive in memory by themselves. */
    int pausesPerTurn(int paused) {
        return link.isMirrored() ? link.pausesPerLook() : paused;
    }

    /** Where requests arrive by a device, looking for them takes longer than some pauses. */
    private long lookOut() {
        link.look();
        return nextWord();
    }

    private long nextWord() {
        return SlotLayout.requestWord(memory, ControlLayout.slot((int) head & mask));
    }

    /** What need not be done for each request: tells the client how far the server is, and wakes who sleeps. */
    private void settle() {
        if (publishedHead != head) {
            publishedHead = head;
            ControlLayout.consumed(memory, head);
            if (!answered && link.isMirrored()) {
                // The client has memory of its own; answers take the count along.
                link.push();
            }
        }
        if (answered) {
            answered = false;
            wakeSleepers();
        }
    }

    /** Made when its slot is first used: most connections never use most of their slots. Poller only. */
    private ShmServerCall callAt(int index) {
        ShmServerCall call = calls[index];
        if (call == null) {
            call = new ShmServerCall(this, index);
            calls[index] = call;
        }
        return call;
    }

    /** The client's end of the socket is closed. */
    void hungUp() {
        // What it sent before is in its slots. It may write on after it has hung up, but not for ever.
        requestsLeft = link.slots();
    }

    /** Whether a client that has hung up has nothing left to be served, after a turn that took {@code taken} requests. */
    boolean isOver(int taken) {
        if (requestsLeft == CONNECTED) {
            return false;
        }
        requestsLeft = Math.max(0, requestsLeft - taken);
        // A turn may end before its time, with requests left: the slice was over.
        return requestsLeft == 0 || (taken == 0 && !hasRequest());
    }

    private void serve(Relief<ShmServerConnection> duty, ShmServerCall call, long ticket, long word)
            throws ProtocolBreachException {
        if (requestsLeft != CONNECTED && (SlotLayout.flags(word) & SlotLayout.ONE_WAY) == 0) {
            return;
        }
        call.begin(ticket, word);
        if (cancelledEarly != null && cancelledEarly[(int) ticket & mask] == ticket + 1) {
            call.cancelled();
        }
        answered = true;
        if ((SlotLayout.flags(word) & SlotLayout.CONTROL) != 0) {
            serveControl(duty, call);
        } else {
            handlers.serve(duty, call);
        }
    }

    /** On the poller whatever the dispatch is, but relieved as a handler is: a pull may encode elements, which runs users' code. */
    private static void serveControl(Relief<ShmServerConnection> duty, ShmServerCall call)
            throws ProtocolBreachException {
        Relief.Marks<ShmServerConnection> entered = duty.enter(call.connection);
        try {
            ControlRequests.serve(call);
        } finally {
            if (!duty.leave(entered)) {
                call.endAside();
            }
        }
    }

    int emptyTurns() {
        return emptyTurns;
    }

    /** Says that the server polls this connection from now on. */
    void watch() {
        emptyTurns = 0;
        ControlLayout.watched(memory, true);
    }

    /** Says that the server stops polling. The caller must fence and look at {@link #hasRequest} once more before it relies on a ring. */
    void unwatch() {
        ControlLayout.watched(memory, false);
        settle();
        link.listen();
    }

    /** After responses were published: wakes whoever announced to sleep before it last looked. */
    void wakeSleepers() {
        // Between publishing responses and looking for sleepers; they announce themselves by a volatile write before
        // their last look.
        VarHandle.fullFence();
        if (ControlLayout.hasSleepers(memory)) {
            for (ShmServerCall call : calls) {
                if (call != null && call.response.takeUnwoken()) {
                    Futex.wake(memory, call.slot() + SlotLayout.RESPONSE_WORD, Integer.MAX_VALUE);
                }
            }
        }
        if (ControlLayout.isReactorAsleep(memory)) {
            deliver();
        }
    }

    /** A client that sleeps is woken. One with memory of its own counts as asleep always: what was published is carried over. */
    private void deliver() {
        if (link.isMirrored()) {
            link.push();
        } else {
            link.ring();
        }
    }

    ServerSpec spec() {
        return link.spec();
    }

    Peer peer() {
        return link.peer();
    }

    ShmServerCall[] calls() {
        return calls;
    }

    /** The caller of {@code ticket}, a number that the client sent, no longer waits. On the poller's thread. */
    void cancel(long ticket) {
        long ahead = ticket - head;
        if (ahead >= 0 && ahead <= mask) {
            // It came over the socket, and has overtaken its request.
            if (cancelledEarly == null) {
                cancelledEarly = new long[mask + 1];
            }
            cancelledEarly[(int) ticket & mask] = ticket + 1;
            return;
        }
        ShmServerCall call = calls[(int) ticket & mask];
        if (call != null) {
            call.cancel(ticket);
        }
        link.replies().discard(ticket);
        streams.closeOpenedBy(ticket);
    }

    /** Reads what came over the socket: rings, and cancellations for which no slot was free; negative once the client is gone. */
    int drainRings() {
        return link.drainRings(cancelling);
    }

    /** The client has read the answer to the call with that ticket, a number that it sent. */
    void answerRead(long ticket) {
        ShmServerCall call = calls[(int) ticket & mask];
        if (call != null) {
            call.answerRead(ticket);
        }
    }

    /** Tells the client to connect elsewhere for further calls. */
    void drain() {
        ControlLayout.state(memory, ControlLayout.STATE_DRAINING);
        deliver();
    }

    boolean isIdle() {
        if (link.isMirrored()) {
            // What a device has at hand has been sent, as what is in shared memory.
            link.look();
        }
        return !use.hasCallsUnderWay() && !hasRequest();
    }

    /** Ends the connection. Its memory is unmapped once no thread is in a handler. Called by its poller, or after that has ended. */
    void close() {
        if (!use.close()) {
            return;
        }
        try {
            link.hangUp();
            streams.closeAll();
            for (ShmServerCall call : calls) {
                if (call != null) {
                    call.cancelled();
                }
            }
        } finally {
            use.leave();
        }
    }
}
