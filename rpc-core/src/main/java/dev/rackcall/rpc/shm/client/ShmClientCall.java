package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.CallTimes;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.ControlOp;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.EndObservers;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.codec.ObjectCodec;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The client's side of one slot: a call from its first argument to its end. Reused by the slot's calls. {@link
 * ClientRequest} encodes, {@link ClientAnswer} decodes, {@link ClientSlot} tracks the slot's owner.
 */
final class ShmClientCall extends ClientSlot {
    /** On the connection's clock; 0: the default timeout, counted from the first reading of the clock. */
    long deadline;
    /**
     * When a call without a deadline must have ended, on a test's clock: the time that passes between the call and that
     * first reading must count. 0 on the system's clock.
     */
    private long testEnd;
    /** The future of an ASYNC call. */
    RpcFuture<?> future;
    /** When an ASYNC call began, from {@link CallTimes#begin}; 0: it is not timed. */
    private long begun;

    /** Null until the slot's first call, as {@link #answer}: most connections never use most of their slots. */
    private ClientRequest request;

    private ClientAnswer answer;
    private CalledService service;
    private MethodDescriptor method;
    private CallObserver observer = CallObserver.NONE;
    private Status ended = Status.OK;
    private boolean sent;
    private boolean unwanted;
    private boolean neverBegun;
    /** The first shared object of the result that the caller has to release; 0: none yet. */
    private long received;
    /** Whether the connection lets the call send a stream, and no stream has taken that over. */
    private boolean maySend;
    /** What the call sends, until it ends or passes that on; null if it sends no stream. */
    private OutgoingStream<?> outgoing;

    ShmClientCall(ShmClientConnection connection, int index) {
        super(connection, index);
    }

    /** Called after the arguments were encoded: a slot that the server skipped meanwhile needs another turn. */
    private void takeTurn() {
        stopEncoding();
        if (isPassedOver()) {
            connection.slots.claimAgain(this);
            hasTurnAgain();
        }
    }

    // ---- encoding and sending

    /** Encodes the objects of the slot's call. */
    private final class SlotCodec implements ObjectCodec {
        @Override
        public void write(Object value, PayloadWriter out) {
            service.write(value, out);
        }

        @Override
        public Object read(PayloadReader in) {
            return service.read(in);
        }
    }

    /** Begins a call in this slot, which the calling thread holds. If it throws, the slot was given back. */
    void begin(
            CalledService called,
            MethodDescriptor callee,
            long callDeadline,
            Metadata callHeaders,
            Isolation callIsolation,
            CallObserver callObserver) {
        startEncoding();
        deadline = callDeadline;
        if (connection.clock != DeadlineClock.SYSTEM) {
            testEnd = connection.clock.nanoTime()
                    + connection.spec.defaultTimeout().toNanos();
        }
        // As in ClientRequest: a comparison is cheaper than a reference store.
        if (service != called) {
            service = called;
        }
        if (method != callee) {
            method = callee;
        }
        if (observer != callObserver) {
            observer = callObserver;
        }
        if (ended != Status.OK) {
            ended = Status.OK;
        }
        sent = false;
        unwanted = false;
        neverBegun = false;
        received = 0;
        try {
            if (answer == null) {
                prepare();
            }
            request.begin(callHeaders, callIsolation, callee != null && callee.writes());
            answer.begin();
            if (callObserver != CallObserver.NONE) {
                EndObservers.tellBegin(callObserver, connection.end.transport());
            }
        } catch (RuntimeException | Error e) {
            // No caller gets this object, and so none would release it.
            stopEncoding();
            withdraw();
            throw e;
        }
    }

    private void prepare() {
        ObjectCodec objects = new SlotCodec();
        request = new ClientRequest(connection.arenas, objects, slot);
        answer = new ClientAnswer(connection.arenas, objects, slot, this::name);
    }

    /** As the other, for a call that waited for the slot. */
    void begin(QueuedCall waited) {
        begin(waited.service, waited.method, waited.deadline, waited.headers, waited.isolation, waited.observer);
        request.take(waited.shared());
    }

    @Override
    public PayloadWriter arguments() {
        return request.arguments();
    }

    @Override
    public long share(Object sharedObject, String argument) {
        return request.share(sharedObject, method, argument);
    }

    @Override
    public <T> void sendStream(Stream<T> elements, ElementWriter<T> writer) {
        outgoing = new OutgoingStream<>(connection, connection.clock, service, method, deadline, elements, writer);
        maySend = false;
    }

    /** The call holds a permit to send a stream, and returns it when it ends. */
    void maySend() {
        maySend = true;
    }

    /** Begins to send the stream of a call that was sent. */
    private void startSending(OutgoingStream<?> stream) {
        try {
            stream.start(ticket());
        } catch (RuntimeException | Error e) {
            unwanted = true;
            ended = ClientFailure.encodingFailed(name(), e);
            throw e;
        }
    }

    /**
     * Publishes the request. If the new state is not HELD, this thread no longer owns this object afterwards: the
     * future, or else the caller, must release the returned seal.
     */
    private long send(int methodOrOp, int flags, int stateWhileSent) {
        long word = request.complete(ticket(), method, methodOrOp, flags, connection.clock.toSystem(deadline));
        long seal = request.seal();
        sent = true;
        stopEncoding();
        if (stateWhileSent != HELD) {
            if (stateWhileSent == ASYNC) {
                future.sealed(seal);
            }
            setState(stateWhileSent);
        }
        try {
            connection.publish(slot, word);
        } catch (IllegalStateException e) {
            // Unmapped, which is possible once the slot is not HELD. The thread that ended the connection ends this
            // call.
            connection.rethrowIfOpen(e);
        }
        if (stateWhileSent == ABANDONED) {
            hasLeft();
        }
        return seal;
    }

    private int methodNumber() {
        return SlotLayout.methodNumber(service.number, method.index());
    }

    @Override
    public PayloadReader invoke() {
        takeTurn();
        // A call that sends a stream takes as long as its caller's elements.
        long start = outgoing == null ? CallTimes.begin(ticket()) : 0;
        send(methodNumber(), 0, HELD);
        if (outgoing != null) {
            startSending(outgoing);
        }
        return awaitAnswer(start);
    }

    @Override
    public void invokeOneWay() {
        takeTurn();
        CallObserver toTell = observer;
        long taken = send(methodNumber(), SlotLayout.ONE_WAY, ABANDONED);
        if (taken != SentArguments.NO_SEAL) {
            SentArguments.release(connection.arenas, taken, false);
        }
        EndObservers.tell(toTell, Status.OK, Metadata.EMPTY);
    }

    @Override
    public <T> CompletableFuture<T> invokeAsync(ResultReader<T> resultReader) {
        takeTurn();
        RpcFuture<T> result = new RpcFuture<>(connection, this, resultReader, observer);
        sendAsync(result, CallTimes.begin(ticket()));
        return result;
    }

    private void sendAsync(RpcFuture<?> result, long start) {
        future = result;
        begun = start;
        send(methodNumber(), 0, ASYNC);
        if (connection.isOpen()) {
            connection.async.sent();
        } else {
            // The thread that ended the connection may have checked for waiting calls before this one was ASYNC.
            result.lose(connection.end.failure());
        }
    }

    @Override
    public <T> Stream<T> invokeStream(ResultReader<T> resultReader) {
        takeTurn();
        if (outgoing != null) {
            return invokeBoth(resultReader);
        }
        ClientStream<T> stream = new ClientStream<>(connection, service, method, resultReader, deadline, observer);
        send(methodNumber(), 0, HELD);
        try {
            stream.accept(awaitAnswer(), this);
        } catch (RuntimeException e) {
            stream.forsake();
            throw e;
        }
        // From here on the stream reports how the call ended.
        observer = CallObserver.NONE;
        close();
        return stream.stream();
    }

    /**
     * Sends a call whose caller and handler both send streams. Does not wait: the handler's first element may be the
     * answer to one that the caller sends once it has the returned stream.
     */
    private <T> Stream<T> invokeBoth(ResultReader<T> resultReader) {
        OutgoingStream<?> sending = outgoing;
        ClientStream<T> stream = new ClientStream<>(connection, service, method, resultReader, deadline, observer);
        stream.sends(sending);
        long ticket = ticket();
        RpcFuture<Boolean> opening = new RpcFuture<>(
                connection,
                this,
                (in, call) -> {
                    stream.accept(in, call);
                    return true;
                },
                (status, _) -> {
                    // Also if the returned stream is never read.
                    if (!status.isOk()) {
                        sending.stop();
                    }
                });
        stream.opens(opening);
        CallObserver toTell = observer;
        observer = CallObserver.NONE;
        // Once the call is sent, its stream object also ends the caller's stream, and this object may serve another
        // call.
        outgoing = null;
        try {
            sendAsync(opening, 0);
            sending.start(ticket);
        } catch (RuntimeException | Error e) {
            if (usesMemory() && ticket() == ticket) {
                // Not sent: the caller ends this call.
                observer = toTell;
                outgoing = sending;
            } else {
                stream.stream().close();
            }
            throw e;
        }
        return stream.stream();
    }

    /** Begins a control request that no caller waits for, for {@link #sendControl}; a second operand is 0. */
    void beginControl(int op, long operand) {
        begin(connection.first, null, 0, Metadata.EMPTY, Isolation.TRUSTED, CallObserver.NONE);
        arguments().writeLong(operand);
        if (ControlOp.isOfTwo(op)) {
            arguments().writeLong(0);
        }
    }

    void sendControl(int op) {
        send(op, SlotLayout.CONTROL | SlotLayout.ONE_WAY, ABANDONED);
    }

    /** Sends a control request that belongs to a call of {@code onBehalfOf}, and waits for its answer. */
    PayloadReader callControl(
            CalledService called, MethodDescriptor onBehalfOf, int op, long operand, long callDeadline) {
        begin(called, onBehalfOf, callDeadline, Metadata.EMPTY, Isolation.TRUSTED, CallObserver.NONE);
        arguments().writeLong(operand);
        send(op, SlotLayout.CONTROL, HELD);
        return awaitAnswer();
    }

    /** Sends a control request of two operands and waits for its answer. */
    PayloadReader callControl(int op, long first, long second, long callDeadline) {
        begin(connection.first, null, callDeadline, Metadata.EMPTY, Isolation.TRUSTED, CallObserver.NONE);
        arguments().writeLong(first);
        arguments().writeLong(second);
        send(op, SlotLayout.CONTROL, HELD);
        return awaitAnswer();
    }

    /** Sends a control request with those operands that belongs to a call of {@code onBehalfOf}, and waits. */
    PayloadReader callControl(
            CalledService called,
            MethodDescriptor onBehalfOf,
            int op,
            Consumer<PayloadWriter> operands,
            long callDeadline) {
        begin(called, onBehalfOf, callDeadline, Metadata.EMPTY, Isolation.TRUSTED, CallObserver.NONE);
        operands.accept(arguments());
        takeTurn();
        send(op, SlotLayout.CONTROL, HELD);
        return awaitAnswer();
    }

    /** Asks the server to bind that channel's service, and waits for its answer. */
    PayloadReader callBind(String channel, long callDeadline) {
        begin(connection.first, null, callDeadline, Metadata.EMPTY, Isolation.TRUSTED, CallObserver.NONE);
        arguments().writeString(channel, "channel");
        send(ControlOp.BIND, SlotLayout.CONTROL, HELD);
        return awaitAnswer();
    }

    // ---- the answer

    /** Whether reading the answer to an asynchronous call may take a round trip. */
    boolean mustAskToRead() {
        return (SlotLayout.flags(SlotLayout.responseWord(memory, slot)) & SlotLayout.HELD) != 0;
    }

    /** Called by the thread that has taken the answer to an asynchronous call. */
    void countTime() {
        if (begun != 0) {
            CallTimes.end(memory, begun);
        }
    }

    /** Opens the answer to an asynchronous call. */
    PayloadReader answer() {
        return open(SlotLayout.responseWord(memory, slot));
    }

    private PayloadReader awaitAnswer() {
        return awaitAnswer(0);
    }

    /** @param start from {@link CallTimes#begin} */
    private PayloadReader awaitAnswer(long start) {
        try {
            long word = connection.waiting.await(this);
            if (start != 0) {
                CallTimes.end(memory, start);
            }
            return open(word);
        } catch (RpcException e) {
            throw e.fromCall();
        }
    }

    private PayloadReader open(long word) {
        try {
            return answer.open(word, request.written());
        } catch (RpcException e) {
            ended = e.status();
            if (outgoing != null) {
                outgoing.explain(e);
            }
            throw e;
        }
    }

    String name() {
        return method == null ? connection.spec.channel() : method.fullName();
    }

    /** Whether the call's own deadline has passed. */
    boolean isLate() {
        return deadline != 0 && connection.clock.left(deadline) <= 0;
    }

    /** When the caller gives up; 0 if that is the default timeout after the first reading of the clock. */
    long end() {
        return deadline != 0 ? deadline : testEnd;
    }

    /**
     * The answer did not come before the deadline.
     *
     * @param late whether the deadline had passed before the answer was first waited for
     */
    RpcException timedOut(boolean late) {
        unwanted = true;
        ended = ClientFailure.deadlineExceeded(name(), late);
        return ended.asException();
    }

    /** The waiting thread was interrupted. */
    RpcException interrupted() {
        unwanted = true;
        ended = ClientFailure.interrupted(name());
        return ended.asException();
    }

    /** Whether an interrupt of the waiting thread ends the call: not if the runtime makes it for its own purposes. */
    boolean endsWhenInterrupted() {
        return method != null;
    }

    /** The connection ended while the call was in flight. */
    RpcException lost(RpcException why) {
        neverBegun = isNeverBegun();
        ended = why.status();
        return why;
    }

    /** Whether the server, which has ended the connection, has not taken this call. Its slot must be held. */
    boolean isNeverBegun() {
        // Memory that others get after the end, as in a pool, may say anything.
        if (!connection.end.hasServerOnThisHost()) {
            return false;
        }
        try {
            return ControlLayout.state(memory) == ControlLayout.STATE_ENDED
                    && ticket() - ControlLayout.consumed(memory) >= 0;
        } catch (IllegalStateException e) {
            // Unmapped while the call was asynchronous, and so did not keep the memory: it may have begun.
            return connection.rethrowIfOpen(e);
        }
    }

    /** Releases the slot after an asynchronous call; its future tells the observer. */
    void endAsync() {
        future = null;
        request.end();
        releaseRead();
    }

    /** As {@link #release}, after the answer was read: the server keeps a large answer until it is told so. */
    private void releaseRead() {
        long ticket = ticket();
        boolean kept = answer.isKeptUntilRead();
        release();
        if (kept) {
            connection.control(ControlOp.READ, ticket);
        }
    }

    @Override
    public boolean wasNeverBegun() {
        return neverBegun;
    }

    @Override
    public Metadata trailers() {
        return answer.trailers();
    }

    @Override
    public <T> T shared(Class<T> type, long ref) {
        T result = connection.arenas.shared(type, ref, name());
        // Releasing any object of a result releases all of it.
        if (received == 0
                && method != null
                && !method.kind().returnsStream()
                && connection.arenas.isReply(result, ref)) {
            received = ref;
            connection.unreleased.received(ref, name());
        }
        return result;
    }

    /** The Ref by which the result is counted as not released; 0: it is not counted. */
    long received() {
        return received;
    }

    @Override
    public RpcException rejected(PayloadException cause) {
        ended = sent ? ClientFailure.unreadableAnswer(name(), cause) : ClientFailure.unsuitableArgument(name(), cause);
        return ended.asException(cause);
    }

    @Override
    public void close() {
        stopEncoding();
        if (outgoing != null) {
            outgoing.end();
            outgoing = null;
        }
        if (maySend) {
            maySend = false;
            connection.endSending();
        }
        request.end();
        if (!sent) {
            request.forget();
            if (ended.isOk()) {
                ended = ClientFailure.notEncoded(name());
            }
        } else if (ended.isOk()) {
            request.answered();
        }
        if (request.seal() != SentArguments.NO_SEAL) {
            SentArguments.release(connection.arenas, request.seal(), !unwanted);
        }
        EndObservers.tell(observer, ended, answer.trailers());
        if (!sent) {
            withdraw();
        } else if (unwanted) {
            long ticket = ticket();
            setState(ABANDONED);
            connection.cancel(ticket);
            hasLeft();
        } else {
            releaseRead();
        }
    }

    @Override
    public RuntimeException abandon(Throwable cause) {
        RuntimeException thrown = switch (cause) {
            case PayloadException e -> rejected(e);
            case OutOfArenaException e ->
                Status.Code.RESOURCE_EXHAUSTED
                        .with("%s: %s", name(), e.getMessage())
                        .asException(e);
            case RuntimeException e -> e;
            default -> ClientFailure.encodingFailed(name(), cause).asException(cause);
        };
        // Once an asynchronous or one-way call was sent, the slot may already serve another call; but such calls throw
        // nothing afterwards. All other callers still hold the slot.
        if (usesMemory()) {
            ended = thrown instanceof RpcException e ? e.status() : ClientFailure.encodingFailed(name(), cause);
            close();
        }
        if (cause instanceof Error error) {
            throw error;
        }
        return thrown;
    }
}
