package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.MethodDescriptor;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * The client's side of one slot: encodes into it, sends it, decodes the answer. Used by one call after the other.
 *
 * <p>Its life is in one word, the ticket of the call that has it and one of four states, so that a compare-and-set on it can never
 * confuse two calls: FREE; HELD, while a thread encodes, waits or decodes; ASYNC, sent, the answer belongs to whoever polls; ABANDONED, sent, but
 * nobody wants the answer: the slot is free again once the answer has come.
 */
final class ShmClientCall extends ClientCall {
    private static final int STATE_BITS = 2;
    private static final int STATE_MASK = (1 << STATE_BITS) - 1;
    private static final int FREE = 0;
    private static final int HELD = 1;
    private static final int ASYNC = 2;
    private static final int ABANDONED = 3;

    /** No thread has this id. */
    private static final long NOBODY = 0;

    private static final VarHandle WORD;
    private static final VarHandle WAITER;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            WORD = lookup.findVarHandle(ShmClientCall.class, "word", long.class);
            WAITER = lookup.findVarHandle(ShmClientCall.class, "waiter", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Offset of the slot in the connection's memory. */
    final long slot;
    /** nanoTime; 0: the connection's default time-out, counted from the first look at the clock. */
    long deadline;
    /** A virtual thread that is parked until the answer is there. */
    volatile Thread waiter;
    /** Where the answer goes while the state is ASYNC. */
    RpcFuture<?> future;

    private final ShmClientConnection connection;
    private final MemorySegment memory;
    /** Null until the slot's first call: most connections never use most of their slots. Used by whoever holds the slot. */
    private PayloadBuffer buffer;

    private PayloadWriter writer;
    private PayloadReader reader;

    @SuppressWarnings("unused") // WORD
    private volatile long word;

    private MethodDescriptor method;
    private Metadata headers = Metadata.EMPTY;
    private CallObserver observer = CallObserver.NONE;
    private Status ended = Status.OK;
    private boolean isolated;
    private Isolation isolation = Isolation.TRUSTED;
    /** Null until the slot's first isolated call with a shared argument. */
    private SentArguments sharedArguments;

    /** Of the call that has the slot, if it is released in {@link #close}. */
    private long seal;

    private boolean encoding;
    private boolean sent;
    private boolean unwanted;
    /** Id of the thread that encodes arguments here; each thread only looks for its own. */
    private long encoder;

    private boolean passedOver;
    /** Bytes of the answer, if it lay outside the slot. */
    private long outsideBytes;

    ShmClientCall(ShmClientConnection connection, int index) {
        this.connection = connection;
        this.memory = connection.memory;
        this.slot = ControlLayout.slot(index);
        // As if the call of the lap before the first had just left.
        this.word = ((long) index - connection.link.slots()) << STATE_BITS;
    }

    private void makeCodec() {
        buffer = new PayloadBuffer(
                connection.arenas.requestArena(),
                memory.asSlice(slot + SlotLayout.REQUEST_INLINE, SlotLayout.REQUEST_INLINE_BYTES));
        writer = PayloadWriter.create(buffer).objects(connection.link.objects());
        reader = PayloadReader.create().objects(connection.link.objects());
    }

    // ---- the slot's life

    /** Whether the slot is free, and the last call in it had that ticket. Acquire: pairs with {@link #release}. */
    boolean wasLeftBy(long ticket) {
        return (long) WORD.getAcquire(this) == ((ticket << STATE_BITS) | FREE);
    }

    boolean isBusy() {
        return state((long) WORD.getAcquire(this)) != FREE;
    }

    boolean isAsync() {
        return state((long) WORD.getAcquire(this)) == ASYNC;
    }

    /**
     * Lets the server pass over this slot for now, if the thread with that id, the current one, encodes arguments here. It waits for another call,
     * which the server takes only after this one: encoding asks for a list's elements, and those may come from a call.
     */
    void passOverIfEncoding(long thread) {
        if (encoder == thread && !passedOver) {
            passedOver = true;
            connection.skip(this, ticket());
        }
    }

    /** Whether the server has been told to pass over this slot, which is then in nobody's way. */
    boolean isPassedOver() {
        return passedOver;
    }

    /** After the arguments were encoded: a slot that was passed over meanwhile needs another turn. */
    private void takeTurn() {
        encoder = NOBODY;
        if (passedOver) {
            connection.claimAgain(this);
            passedOver = false;
        }
    }

    /** Whether a thread of this process may be touching the connection's memory for this slot. */
    boolean usesMemory() {
        return state((long) WORD.getAcquire(this)) == HELD;
    }

    /** The caller holds ticket {@code ticket}, so nobody else changes the word now. */
    void occupy(long ticket) {
        WORD.setRelease(this, (ticket << STATE_BITS) | HELD);
    }

    /** Pairs with the acquire in {@link #isBusy}: the next holder sees the slot as this one leaves it. */
    void release() {
        setState(FREE);
        hasLeft();
    }

    /** After each step out of HELD by the thread that held the slot: if the connection has ended, it may be its memory's last user. */
    private void hasLeft() {
        if (!connection.isOpen()) {
            connection.link.memoryReleased();
        }
    }

    /**
     * As {@link #release}, of a slot whose request the server may not have taken yet: no answer says so. It is left as if by an earlier call, so
     * that the next one looks how far the server is before it writes over that request.
     */
    void releaseUntaken() {
        WORD.setRelease(this, (ticket() - 1) << STATE_BITS | FREE);
        hasLeft();
    }

    /** Frees an abandoned slot whose answer has come; returns whether this thread did. */
    boolean reapIfAnswered() {
        long seen = (long) WORD.getAcquire(this);
        return state(seen) == ABANDONED
                && isAnswered(seen >>> STATE_BITS)
                && WORD.compareAndSet(this, seen, seen & ~STATE_MASK);
    }

    /** Takes a call that was sent asynchronously from its future's hands; exactly one thread succeeds. */
    boolean take(long ticket) {
        return WORD.compareAndSet(this, (ticket << STATE_BITS) | ASYNC, (ticket << STATE_BITS) | HELD);
    }

    /** Gives up on an asynchronous call; exactly one of this and {@link #take} succeeds. */
    boolean giveUp(long ticket) {
        return WORD.compareAndSet(this, (ticket << STATE_BITS) | ASYNC, (ticket << STATE_BITS) | ABANDONED);
    }

    /** Takes back what {@code parked} announced in {@link #waiter}; returns whether it still stood there. */
    boolean dismiss(Thread parked) {
        return WAITER.compareAndSet(this, parked, null);
    }

    private void setState(int state) {
        WORD.setRelease(this, (ticket() << STATE_BITS) | state);
    }

    private static int state(long word) {
        return (int) word & STATE_MASK;
    }

    long ticket() {
        return (long) WORD.getOpaque(this) >>> STATE_BITS;
    }

    boolean isAnswered() {
        return isAnswered(ticket());
    }

    /** Never once the connection's memory is gone: whoever does not hold the slot may look after that. */
    boolean isAnswered(long ticket) {
        try {
            return SlotLayout.isOf(SlotLayout.responseWord(memory, slot), ticket);
        } catch (IllegalStateException e) {
            return connection.rethrowIfOpen(e);
        }
    }

    // ---- encoding and sending

    void begin(
            MethodDescriptor callee,
            long callDeadline,
            Metadata callHeaders,
            Isolation callIsolation,
            CallObserver callObserver) {
        encoder = Thread.currentThread().threadId();
        passedOver = false;
        deadline = callDeadline;
        isolated = callIsolation != Isolation.TRUSTED;
        // Storing a reference costs a garbage collector's barrier, often with a full fence; most calls change none of
        // these.
        if (method != callee) {
            method = callee;
        }
        if (headers != callHeaders) {
            headers = callHeaders;
        }
        if (isolated && isolation != callIsolation) {
            isolation = callIsolation;
        }
        if (observer != callObserver) {
            observer = callObserver;
        }
        if (ended != Status.OK) {
            ended = Status.OK;
        }
        encoding = false;
        sent = false;
        unwanted = false;
        outsideBytes = 0;
        seal = SentArguments.NO_SEAL;
        if (buffer == null) {
            makeCodec();
        }
    }

    @Override
    public PayloadWriter arguments() {
        if (!encoding) {
            encoding = true;
            writer.begin(buffer.start());
            if (!headers.isEmpty()) {
                MetadataCodec.write(writer, headers);
            }
        }
        return writer;
    }

    @Override
    public long share(Object sharedObject, String argument) {
        long ref = connection.arenas.share(sharedObject, method.fullName(), argument);
        if (isolated) {
            if (sharedArguments == null) {
                sharedArguments = new SentArguments(connection.arenas);
            }
            sharedArguments.add(sharedObject, ref, method.fullName(), argument);
        }
        return ref;
    }

    /**
     * Publishes the request. Whoever sets another state than HELD no longer owns this object when it returns, and must release the seal that is
     * returned.
     */
    private long send(int methodOrOp, int flags, int stateWhileSent) {
        int allFlags = flags;
        long taken = SentArguments.NO_SEAL;
        int inlineLength = 0;
        if (!headers.isEmpty()) {
            arguments();
            allFlags |= SlotLayout.METADATA;
        }
        if (encoding) {
            if (buffer.isInline()) {
                inlineLength = (int) writer.length();
            } else {
                allFlags |= SlotLayout.OUTSIDE;
                SlotLayout.requestOutside(memory, slot, writer.length(), buffer.ref());
            }
        }
        if (isolated && sharedArguments != null && !sharedArguments.isEmpty()) {
            taken = sharedArguments.isolate(isolation, method, memory, slot);
            allFlags |= taken == SentArguments.NO_SEAL ? SlotLayout.SNAPSHOT : SlotLayout.SEALED;
            if (stateWhileSent == HELD) {
                seal = taken;
            } else if (stateWhileSent == ASYNC) {
                future.sealed(taken);
            }
        }
        if (deadline != 0) {
            allFlags |= SlotLayout.DEADLINE;
            SlotLayout.requestDeadline(memory, slot, deadline);
        }
        long word = SlotLayout.word(ticket(), methodOrOp, allFlags, inlineLength);
        sent = true;
        encoder = NOBODY;
        if (stateWhileSent != HELD) {
            setState(stateWhileSent);
        }
        try {
            connection.publish(slot, word);
        } catch (IllegalStateException e) {
            // Unmapped, as it may be for whoever does not hold the slot: whoever ended the connection ends this call.
            connection.rethrowIfOpen(e);
        }
        if (stateWhileSent == ABANDONED) {
            hasLeft();
        }
        return taken;
    }

    @Override
    public PayloadReader invoke() {
        takeTurn();
        send(method.index(), 0, HELD);
        return answer(connection.await(this));
    }

    @Override
    public void invokeOneWay() {
        takeTurn();
        CallObserver toTell = observer;
        long taken = send(method.index(), SlotLayout.ONE_WAY, ABANDONED);
        if (taken != SentArguments.NO_SEAL) {
            SentArguments.release(connection.arenas, taken, false);
        }
        Observers.tell(toTell, Status.OK);
    }

    @Override
    public <T> CompletableFuture<T> invokeAsync(ResultReader<T> resultReader) {
        takeTurn();
        RpcFuture<T> result = new RpcFuture<>(connection, this, resultReader, observer);
        future = result;
        send(method.index(), 0, ASYNC);
        if (connection.isOpen()) {
            connection.async.sent();
        } else {
            // Whoever ended the connection may have looked for waiting calls before this one was.
            result.lose(connection.link.failure());
        }
        return result;
    }

    @Override
    public <T> Stream<T> invokeStream(ResultReader<T> resultReader) {
        takeTurn();
        ClientStream<T> stream = new ClientStream<>(connection, method, resultReader, deadline, observer);
        send(method.index(), 0, HELD);
        try {
            stream.accept(answer(connection.await(this)), this);
        } catch (RuntimeException e) {
            stream.forsake();
            throw e;
        }
        // From here on the stream says how the call ended.
        observer = CallObserver.NONE;
        close();
        return stream.stream();
    }

    /** Sends a control request that nobody waits for. */
    void sendControl(int op, long operand) {
        begin(null, 0, Metadata.EMPTY, Isolation.TRUSTED, CallObserver.NONE);
        arguments().writeLong(operand);
        send(op, SlotLayout.CONTROL | SlotLayout.ONE_WAY, ABANDONED);
    }

    /** Sends a control request on behalf of {@code onBehalfOf} and waits for its answer. */
    PayloadReader callControl(MethodDescriptor onBehalfOf, int op, long operand, long callDeadline) {
        begin(onBehalfOf, callDeadline, Metadata.EMPTY, Isolation.TRUSTED, CallObserver.NONE);
        arguments().writeLong(operand);
        send(op, SlotLayout.CONTROL, HELD);
        return answer(connection.await(this));
    }

    /** Has the server join the session of that number with the holder of this side's seals. */
    void callJoin(long sessionHigh, long sessionLow, long callDeadline) {
        begin(null, callDeadline, Metadata.EMPTY, Isolation.TRUSTED, CallObserver.NONE);
        arguments().writeLong(sessionHigh);
        arguments().writeLong(sessionLow);
        send(ControlOp.JOIN_SEALS, SlotLayout.CONTROL, HELD);
        PayloadReader _ = answer(connection.await(this));
    }

    // ---- the answer

    /** Opens the answer that has come to an asynchronous call. */
    PayloadReader answer() {
        return answer(SlotLayout.responseWord(memory, slot));
    }

    /** Opens the answer that {@code word} tells of; throws what a failed call ended with. */
    private PayloadReader answer(long word) {
        if (SlotLayout.isEmptySuccess(word)) {
            reader.beginEmpty();
            return reader;
        }
        int flags = SlotLayout.flags(word);
        if ((flags & SlotLayout.OUTSIDE) == 0) {
            int length = SlotLayout.inlineLength(word);
            if (length > SlotLayout.RESPONSE_INLINE_BYTES) {
                throw malformed("an inline payload of " + length + " bytes");
            }
            reader.begin(memory, slot + SlotLayout.RESPONSE_INLINE, length);
        } else {
            long length = SlotLayout.responseLength(memory, slot);
            long ref = SlotLayout.responseRef(memory, slot);
            if (!connection.arenas.isReplyPayload(ref, length)) {
                throw malformed(
                        "a payload of " + length + " bytes at " + Ref.describe(ref) + ", outside the reply arena");
            }
            outsideBytes = length;
            reader.begin(connection.arenas.replyMemory(), Ref.offset(ref), length);
        }
        if (SlotLayout.methodOrStatus(word) != 0) {
            throw failure(SlotLayout.methodOrStatus(word), flags);
        }
        return reader;
    }

    private RpcException failure(int number, int flags) {
        try {
            String description = (flags & SlotLayout.METADATA) != 0 ? reader.readString() : "";
            Metadata trailers = (flags & SlotLayout.METADATA) != 0 ? MetadataCodec.read(reader) : Metadata.EMPTY;
            ended = Status.Code.ofNumber(number).with(description);
            return new RpcException(ended, trailers);
        } catch (PayloadException e) {
            return malformed("a failure that cannot be read: " + e.getMessage());
        }
    }

    private RpcException malformed(String what) {
        ended = Status.Code.INTERNAL.with("%s: the server answered with %s; it is broken or hostile", name(), what);
        return ended.asException();
    }

    String name() {
        return method == null ? connection.spec.channel() : method.fullName();
    }

    /** The answer did not come before the deadline. */
    RpcException timedOut() {
        unwanted = true;
        ended = deadlineExceeded(name());
        return ended.asException();
    }

    static Status deadlineExceeded(String name) {
        return Status.Code.DEADLINE_EXCEEDED.with(
                "%s: no answer before the deadline; the handler may still be running", name);
    }

    /** The connection broke while the call was under way. */
    RpcException lost(RpcException why) {
        ended = why.status();
        return why;
    }

    /** Gives the slot back after an asynchronous call; its future tells the observer. */
    void endAsync() {
        future = null;
        buffer.trim();
        releaseRead();
    }

    /** As {@link #release}, after the answer was read: the server keeps a large one until it is told so. */
    private void releaseRead() {
        long ticket = ticket();
        boolean large = outsideBytes > PayloadBuffer.KEPT_PAYLOAD_BYTES;
        release();
        if (large) {
            connection.control(ControlOp.READ, ticket);
        }
    }

    @Override
    public <T> T shared(Class<T> type, long ref) {
        return connection.arenas.shared(type, ref, name());
    }

    @Override
    public RpcException rejected(PayloadException cause) {
        ended = sent
                ? Status.Code.INTERNAL.with("%s: the server's answer cannot be read: %s", name(), cause.getMessage())
                : Status.Code.INVALID_ARGUMENT.with("%s: %s", name(), cause.getMessage());
        return ended.asException(cause);
    }

    @Override
    public void close() {
        encoder = NOBODY;
        buffer.trim();
        if (!sent && sharedArguments != null) {
            sharedArguments.forget();
        }
        if (!sent && ended.isOk()) {
            ended = Status.Code.INTERNAL.with("%s: its arguments could not be encoded", name());
        }
        if (seal != SentArguments.NO_SEAL) {
            SentArguments.release(connection.arenas, seal, !unwanted);
        }
        Observers.tell(observer, ended);
        if (!sent) {
            connection.withdraw(this);
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
            default -> failedToEncode(cause).asException(cause);
        };
        // Once an asynchronous or one-way call was sent, the slot may already serve somebody else; but those throw
        // nothing after that. Everybody else who throws still holds the slot.
        if (usesMemory()) {
            ended = thrown instanceof RpcException e ? e.status() : failedToEncode(cause);
            close();
        }
        if (cause instanceof Error error) {
            throw error;
        }
        return thrown;
    }

    private Status failedToEncode(Throwable cause) {
        return Status.Code.INTERNAL.with("%s: encoding failed: %s", name(), cause);
    }
}
