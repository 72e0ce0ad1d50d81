package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.CallThread;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.os.Futex;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;

/**
 * The server's end of a connection: takes requests in slot order and wakes sleeping callers. Only its poller calls
 * {@link #poll} and {@link #unwatch}; any thread may publish responses.
 *
 * <p>The client is not trusted. A request must fit its payload into the slot or the client's own arena, and must find
 * its slot idle; otherwise it ends the connection.
 */
public final class ShmServerConnection implements Relief.Served {
    /** Requests taken in one turn, so that a busy client cannot starve the others of its poller. */
    private static final int REQUESTS_PER_TURN = 64;
    /** Stuck handlers of one client that may each keep a thread; beyond that, its further requests wait. */
    private static final int MAX_STUCK = 8;

    private static final int CONNECTED = -1;

    public final ServerEnd end;
    /** The one that the client has connected to. */
    final ServiceBinding service;

    final BoundServices services;
    /** Deadlines inside of the connection are times on it. */
    final DeadlineClock clock;

    /** Whether handlers run in a sandbox. */
    final boolean walled;

    final MemorySegment memory;
    final ServerStreams streams = new ServerStreams();
    /** The streams that callers send, by the ticket of their call. */
    final Map<Long, IncomingStream> incoming = new ConcurrentHashMap<>();

    final ConnectionUse use;
    final PayloadBudget payloads;

    private final Handlers handlers;
    private final ShmServerCall[] calls;
    private final int mask;
    /** How many slots requests go round now. Poller only. */
    private int lap;

    private final AtomicInteger stuck = new AtomicInteger();

    private final LongConsumer cancelling = this::cancel;

    /** Requests taken so far. Poller only. */
    private long head;
    /** The value of {@link #head} last published to the client. Poller only. */
    private long publishedHead;
    /** Whether a request was taken since the last call of {@link #wasUsed}. Poller only. */
    private boolean used = true;
    /** Sleeps of the poller since the last request. Poller only. */
    private int rests;
    /** How often polling it has stopped, for observers. */
    private int pauses;
    /** Whether calls were served since the poller last checked for sleepers. Poller only. */
    private boolean answered;
    /** Whether the client has seen that this server drains. Poller only. */
    private boolean hadLastCall;
    /** Whether the client's callers then had scopes open. Poller only. */
    private boolean hasOpenScopes;
    /**
     * For a client that has hung up, the requests that may still be served; otherwise {@link #CONNECTED}. Poller only.
     */
    private int requestsLeft = CONNECTED;
    /**
     * By slot, 1 + the ticket of a request that was cancelled over the bell before it was taken; null until the first.
     * Poller only.
     */
    private long[] cancelledEarly;

    /** The poller that polls it, or is about to. Set by that poller's predecessor, if it has one. */
    private volatile Poller poller;

    /** Its position in the poller's list; -1: not watched. Poller only. */
    int position = -1;

    ShmServerConnection(ServerEnd end, BoundServices services, Handlers handlers, DeadlineClock clock) {
        this.end = end;
        this.service = services.first();
        this.services = services;
        this.clock = clock;
        this.walled = end.wall().isClosed();
        this.handlers = handlers;
        this.memory = end.memory();
        this.use = new ConnectionUse(end::release, end.count());
        this.payloads = new PayloadBudget(end.requestMemory().byteSize());
        this.mask = end.slots() - 1;
        this.lap = end.slots();
        this.calls = new ShmServerCall[end.slots()];
    }

    Poller poller() {
        return poller;
    }

    void handOverTo(Poller next) {
        poller = next;
    }

    /** Ends a connection that was handed over to a poller. Any thread. */
    public void discard() {
        poller.discard(this);
    }

    boolean isClosed() {
        return use.isClosed();
    }

    /** Whether another poller may poll it from now on. Poller only. */
    boolean mayMove() {
        return requestsLeft == CONNECTED && !isJammed();
    }

    /** Whether the next request has arrived and may be taken. */
    boolean hasRequest() {
        return !isJammed()
                && (SlotLayout.isOf(nextWord(), head) || (changesLap() && SlotLayout.isOf(nextWord(), head)));
    }

    /** Whether a request has arrived for which the client, which has to ring, has not even announced a ring. */
    boolean hasUnrungRequest() {
        return !end.isMirrored() && hasRequest() && !ControlLayout.isRung(memory);
    }

    String channel() {
        return service.channel();
    }

    @Override
    public String handling() {
        // The last request that the poller took. The watcher sees its number: it has made the poller's thread pass a
        // handshake, and that thread is still in the handler.
        ShmServerCall call = callOf(head - 1);
        return call == null ? channel() : call.request.name();
    }

    @Override
    public void handlerIsStuck() {
        use.callStarts();
        stuck.incrementAndGet();
    }

    /** If too many handlers were stuck, the poller has to watch the connection again. */
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
     * @param patience number of further polls, each after a pause, if no request has arrived
     * @throws ProtocolBreachException if the client broke the protocol; the connection must be closed
     */
    int poll(Relief<ShmServerConnection> duty, int patience) throws ProtocolBreachException {
        if (isJammed()) {
            settle();
            return 0;
        }
        long word = nextWord();
        if (!SlotLayout.isOf(word, head)) {
            changesLap();
            settle();
            word = end.isMirrored() ? lookOut() : await(word, patience);
        }
        int taken = 0;
        int slice = duty.slice();
        while (SlotLayout.isOf(word, head) && taken < REQUESTS_PER_TURN && slice == duty.slice()) {
            long ticket = head;
            head = ticket + 1;
            taken++;
            if ((SlotLayout.flags(word) & SlotLayout.SKIP) == 0) {
                serve(duty, callAt((int) ticket & (lap - 1)), ticket, word);
                if (!duty.isOnDuty()) {
                    return taken;
                }
            }
            word = nextWord();
        }
        if (SlotLayout.isOf(word, head) || patience == 0) {
            // The next turn comes after the handlers of other connections, or brings more requests, while a caller
            // sleeps or waits for a free slot.
            settle();
        }
        if (taken > 0) {
            used = true;
            rests = 0;
        }
        return taken;
    }

    /** Requests that have arrived but were not taken, up to the first empty slot. Poller only. */
    int waitingRequests() {
        int round = lap;
        for (int count = 0; count <= mask; count++) {
            long ticket = head + count;
            if (!SlotLayout.isOf(wordOf(ticket, round), ticket)) {
                round = lapFrom(ticket);
                if (!SlotLayout.isOf(wordOf(ticket, round), ticket)) {
                    return count;
                }
            }
        }
        return mask + 1;
    }

    private long await(long seen, int patience) {
        long word = seen;
        for (int i = 0; i < patience && !SlotLayout.isOf(word, head); i++) {
            Thread.onSpinWait();
            word = nextWord();
        }
        return word;
    }

    /** Polls only once, since polling a device takes longer than several pauses. */
    private long lookOut() {
        end.look();
        return nextWord();
    }

    private long nextWord() {
        return wordOf(head, lap);
    }

    private long wordOf(long ticket, int round) {
        return SlotLayout.requestWord(memory, ControlLayout.slot((int) ticket & (round - 1)));
    }

    /** How many slots requests go round from that ticket on. */
    private int lapFrom(long ticket) {
        boolean mayChange = mask >= ControlLayout.NARROW_SLOTS && !end.isMirrored();
        return mayChange ? ControlLayout.lap(memory, ticket, mask + 1) : mask + 1;
    }

    /** Whether the client's requests go round another number of slots from the next one on. */
    private boolean changesLap() {
        int before = lap;
        lap = lapFrom(head);
        return lap != before;
    }

    /** The slot's last call, if it has had that ticket; null if it has had another since. Poller only. */
    private ShmServerCall callOf(long ticket) {
        ShmServerCall call = calls[(int) ticket & mask];
        if (mask >= ControlLayout.NARROW_SLOTS && (call == null || call.request.ticket() != ticket)) {
            // It was sent while requests went round fewer slots.
            call = calls[(int) ticket & (ControlLayout.NARROW_SLOTS - 1)];
        }
        return call;
    }

    /** Work that is not done for each request: tells the client the server's progress, and wakes sleeping callers. */
    private void settle() {
        if (publishedHead != head) {
            publishedHead = head;
            ControlLayout.consumed(memory, head);
            if (!answered && end.isMirrored()) {
                // The client has memory of its own. Answers would carry the count, but there are none.
                end.push();
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
        // Requests that were sent earlier are in the slots. A hostile client may keep writing, but not forever.
        requestsLeft = end.slots();
    }

    /**
     * Whether nothing is left to serve for a client that has hung up, after a turn that took {@code taken} requests.
     */
    boolean isOver(int taken) {
        if (requestsLeft == CONNECTED) {
            return false;
        }
        requestsLeft = Math.max(0, requestsLeft - taken);
        // A turn may leave requests because its slice was over.
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
            handlers.take(duty, call);
        }
    }

    /**
     * Runs on the poller for every dispatch, and is relieved like a handler: a pull may encode elements, which runs
     * users' code. A request that needs duty is not relieved: a relieved thread would change calls that its successor
     * has begun in the meantime.
     */
    private static void serveControl(Relief<ShmServerConnection> duty, ShmServerCall call)
            throws ProtocolBreachException {
        if (ControlRequests.needsDuty(call.request.methodIndex())) {
            ControlRequests.serve(call);
            return;
        }
        Relief.Marks<ShmServerConnection> entered = duty.enter(call.connection);
        try {
            ControlRequests.serve(call);
        } finally {
            // Encoding a stream's elements runs users' code.
            CallThread.forgetInterrupt();
            if (!duty.leave(entered)) {
                call.endAside();
            }
        }
    }

    /** Whether a request was taken since the last call; true at the first. */
    boolean wasUsed() {
        boolean was = used;
        used = false;
        return was;
    }

    int rests() {
        return rests;
    }

    /** Tells callers that are about to spin where the poller runs. */
    void runsOn(int processor, boolean yields) {
        ControlLayout.processor(memory, processor);
        ControlLayout.yields(memory, yields);
    }

    /** Whether a caller waits on that processor, on which the poller runs. */
    boolean hasCallerOn(int processor) {
        return ControlLayout.caller(memory) == processor;
    }

    /** Announces that the server polls this connection from now on. */
    void watch() {
        used = true;
        ControlLayout.watched(memory, true);
    }

    /**
     * Announces that the server stops polling. The caller must fence and check {@link #hasRequest} once more before it
     * relies on a ring.
     */
    void unwatch() {
        rests++;
        ControlLayout.pauses(memory, ++pauses);
        ControlLayout.watched(memory, false);
        settle();
        end.listen();
    }

    /** Called after responses were published: wakes the callers that announced their sleep before. */
    void wakeSleepers() {
        // Orders publishing responses before checking for sleepers. Sleepers announce themselves by a volatile write
        // before their last check.
        VarHandle.fullFence();
        for (int first = 0; first <= mask; first += Long.SIZE) {
            for (long left = ControlLayout.asleep(memory, first); left != 0; left &= left - 1) {
                // The client wrote the bits, so any may be set.
                ShmServerCall call = calls[(first + Long.numberOfTrailingZeros(left)) & mask];
                if (call != null && call.response.takeUnwoken()) {
                    Futex.wake(memory, call.slot() + SlotLayout.RESPONSE_WORD, 1);
                }
            }
        }
        if (ControlLayout.isReactorAsleep(memory)) {
            deliver();
        }
    }

    /**
     * Wakes a client that sleeps. A client with memory of its own always counts as asleep, so responses are pushed to
     * it.
     */
    private void deliver() {
        if (end.isMirrored()) {
            end.push();
        } else {
            end.ring();
        }
    }

    ServerSpec spec() {
        return end.spec();
    }

    Peer peer() {
        return end.peer();
    }

    ShmServerCall[] calls() {
        return calls;
    }

    /** The caller of {@code ticket}, a number from the client, no longer waits. Poller only. */
    void cancel(long ticket) {
        long ahead = ticket - head;
        if (ahead >= 0 && ahead <= mask) {
            // The cancellation came over the socket, and has overtaken its request.
            if (cancelledEarly == null) {
                cancelledEarly = new long[mask + 1];
            }
            cancelledEarly[(int) ticket & mask] = ticket + 1;
            return;
        }
        ShmServerCall call = callOf(ticket);
        if (call != null) {
            call.cancel(ticket);
        }
        end.replies().discard(ticket);
        streams.closeOpenedBy(ticket);
    }

    /** Reads the socket: rings, and cancellations for which no slot was free; negative once the client is gone. */
    int drainRings() {
        return end.drainRings(cancelling);
    }

    /** The client has read the answer to that ticket, a number from the client. */
    void answerRead(long ticket) {
        ShmServerCall call = callOf(ticket);
        if (call != null) {
            call.answerRead(ticket);
        }
    }

    /** Tells the client to connect elsewhere for further calls. */
    void drain() {
        ControlLayout.state(memory, ControlLayout.STATE_DRAINING);
        deliver();
    }

    /** The client begins no more calls, but may still have scopes open. */
    void noteLastCall(boolean scopesAreOpen) {
        hadLastCall = true;
        hasOpenScopes = scopesAreOpen;
    }

    /** Whether the client has noticed that this server drains. Only then does an idle connection stay idle. */
    boolean hasNoMoreCalls() {
        return hadLastCall || isClosed();
    }

    /** Whether no call is under way, and the client holds neither a result nor, as far as it has told, a scope. */
    boolean isIdle() {
        if (end.isMirrored()) {
            // Requests that a device has received count as sent.
            end.look();
        }
        // A stream is read or sent by one request after another, between which no call is under way.
        return !use.hasCallsUnderWay() && !hasRequest() && !streams.areRead() && incoming.isEmpty() && !holdsObjects();
    }

    private boolean holdsObjects() {
        // Their memory ends with the connection.
        return hasOpenScopes || !end.replies().areReleased();
    }

    /** Lets the client see which requests were never begun; those it may send to another server. */
    private void takeNoMore() {
        ControlLayout.consumed(memory, head);
        ControlLayout.state(memory, ControlLayout.STATE_ENDED);
    }

    /**
     * Ends the connection. Its memory is unmapped once no thread is in a handler. Called by its poller, or after the
     * poller has ended.
     */
    void close() {
        if (!use.close()) {
            return;
        }
        try {
            takeNoMore();
            end.hangUp();
            // Calls first: their handlers learn that the client is gone, not only that it reads no more.
            for (ShmServerCall call : calls) {
                if (call != null) {
                    call.cancelled();
                }
            }
            streams.closeAll();
        } finally {
            use.leave();
        }
    }
}
