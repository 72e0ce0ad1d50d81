package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.CallThread;
import dev.rackcall.rpc.spi.MethodDescriptor;
import dev.rackcall.rpc.spi.ServerCall;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.SharedObject;
import dev.rackcall.shm.SharedType;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

/**
 * The server's side of one slot: decodes the request, holds the call's state while it is served, publishes the response. Used by one call
 * after the other; the poller begins it, and whichever thread serves the call ends it.
 */
final class ShmServerCall extends ServerCall {
    /** Characters of a failure's description that fit into the slot, if they are ASCII. */
    private static final int SHORT_DESCRIPTION = 80;

    final ShmServerConnection connection;

    private final MemorySegment memory;
    private final int index;
    private final long slot;
    private final PayloadBuffer buffer;
    private final PayloadWriter writer;
    private final PayloadReader reader;

    private static final VarHandle BUSY;
    private static final VarHandle UNWOKEN;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            BUSY = lookup.findVarHandle(ShmServerCall.class, "busy", boolean.class);
            UNWOKEN = lookup.findVarHandle(ShmServerCall.class, "unwoken", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Set by the poller, cleared by who ends the call: a client that uses the slot again before is out of order. */
    @SuppressWarnings("unused") // BUSY
    private boolean busy;

    /** A response was published that nobody was woken for yet. */
    @SuppressWarnings("unused") // UNWOKEN
    private boolean unwoken;

    private long ticket;
    private int methodIndex;
    private int flags;
    private long length;
    private long ref;
    /** What of {@link #length} the connection has counted; less than all of it: it refused. */
    private long counted;

    private long deadline;
    private boolean opened;
    private boolean encoding;
    /** The last ticket whose handler left the answer to somebody else. Only grows, so that the slot's next call cannot take that back. */
    private long deferredTicket = -1;

    private CallObserver observer = CallObserver.NONE;
    private Metadata headers = Metadata.EMPTY;
    /** Written by the thread that serves, read by the poller when a cancellation comes: volatile, as {@link #unwanted}. */
    private volatile ServerContext context;

    /** The caller no longer waits. Set before {@link #context} is looked at; who makes the context looks here after it. */
    private volatile boolean unwanted;

    private ReplyScope reply;
    /** Null until the slot's first call that needs one. */
    private CallMemory callMemory;

    /** Which scope's or seal's the arguments are, if the flags say so. */
    private long isolation;

    /** A stream reads on under the seal, and marks it done. */
    private boolean sealIsStreams;

    ShmServerCall(ShmServerConnection connection, int index) {
        this.connection = connection;
        this.memory = connection.memory;
        this.index = index;
        this.slot = ControlLayout.slot(index);
        this.buffer = new PayloadBuffer(
                connection.link.replyArena(),
                memory.asSlice(slot + SlotLayout.RESPONSE_INLINE, SlotLayout.RESPONSE_INLINE_BYTES));
        this.writer = PayloadWriter.create(buffer).objects(connection.service.objects());
        this.reader = PayloadReader.create().objects(connection.service.objects());
    }

    long slot() {
        return slot;
    }

    // ---- taking the request: on the poller's thread

    /** Copies the request's header; each word is read once, since the client may go on writing. */
    void begin(long takenTicket, long word) throws ProtocolException {
        if (isBusy()) {
            throw new ProtocolException("request " + takenTicket + " came in a slot whose call is still under way");
        }
        // That there is another request says that the answer to the last one has been read, or that nobody wants it.
        buffer.trim();
        ticket = takenTicket;
        methodIndex = SlotLayout.methodOrStatus(word);
        flags = SlotLayout.flags(word);
        if (isIsolated()) {
            isolation = SlotLayout.requestIsolation(memory, slot);
        }
        deadline = (flags & SlotLayout.DEADLINE) == 0 ? 0 : SlotLayout.requestDeadline(memory, slot);
        if ((flags & SlotLayout.OUTSIDE) == 0) {
            counted = 0;
            length = SlotLayout.inlineLength(word);
            if (length > SlotLayout.REQUEST_INLINE_BYTES) {
                throw new ProtocolException("an inline payload of " + length + " bytes");
            }
        } else {
            length = SlotLayout.requestLength(memory, slot);
            ref = SlotLayout.requestRef(memory, slot);
            if (!connection.link.isRequestPayload(ref, length)) {
                throw new ProtocolException(
                        "a payload of " + length + " bytes at " + Ref.describe(ref) + ", outside its request arena");
            }
            counted = connection.take(length) ? length : 0;
        }
        opened = false;
        encoding = false;
        sealIsStreams = false;
        if (context != null) {
            context = null;
        }
        if (unwanted) {
            unwanted = false;
        }
        BUSY.setRelease(this, true);
    }

    private boolean isBusy() {
        return (boolean) BUSY.getAcquire(this);
    }

    int methodIndex() {
        return methodIndex;
    }

    void observe(CallObserver newObserver) {
        observer = newObserver;
    }

    // ---- serving it: on any one thread

    /** Runs the handler on the calling thread and answers, unless the handler deferred that. */
    void run() {
        // Once the call was deferred, it may end, and the slot serve its next call, before the handler has returned
        // here.
        long served = ticket;
        CallThread.serve(connection.calls(), index);
        try {
            if (!connection.service.hasMethod(methodIndex)) {
                throw Status.Code.UNIMPLEMENTED
                        .with(
                                "channel %s has no method number %d; build both sides from the same interface",
                                connection.service.channel(), methodIndex)
                        .asException();
            }
            if (deadline != 0 && deadline - System.nanoTime() <= 0) {
                throw Status.Code.DEADLINE_EXCEEDED
                        .with("%s: the deadline had passed before the handler could start", name())
                        .asException();
            }
            if ((flags & SlotLayout.OUTSIDE) != 0 && counted < length) {
                throw Status.Code.RESOURCE_EXHAUSTED
                        .with(
                                "%s: its arguments of %d bytes and those of earlier calls that still run exceed the request arena;"
                                        + " wait for them, or open the channel with a larger arenaQuota",
                                name(), length)
                        .asException();
            }
            connection.link.wall().handle(connection.service, this);
            if (deferredTicket < served) {
                succeed();
            }
        } catch (Throwable t) {
            if (deferredTicket < served) {
                fail(t);
            }
        } finally {
            CallThread.serveNone();
        }
    }

    @Override
    public PayloadReader arguments() {
        if (!opened) {
            opened = true;
            open();
            if ((flags & SlotLayout.METADATA) != 0) {
                headers = MetadataCodec.read(reader);
            }
        }
        return reader;
    }

    private void open() {
        if ((flags & SlotLayout.OUTSIDE) == 0) {
            reader.begin(memory, slot + SlotLayout.REQUEST_INLINE, length);
        } else {
            reader.begin(connection.link.requestMemory(), Ref.offset(ref), length);
        }
    }

    @Override
    public PayloadWriter result() {
        if (!encoding) {
            encoding = true;
            writer.begin(buffer.start());
        }
        return writer;
    }

    @Override
    public <T> T shared(Class<T> type, long sharedRef, String argument) {
        try {
            return SharedType.of(type).attach(argumentSpace(argument), sharedRef);
        } catch (RefException e) {
            String where = name() + ": argument '" + argument + "'";
            throw (isIsolated()
                            ? Failure.breach(where, e)
                            : Status.Code.INVALID_ARGUMENT.with("%s: %s", where, e.getMessage()))
                    .asException(e);
        }
    }

    boolean isIsolated() {
        return (flags & (SlotLayout.SNAPSHOT | SlotLayout.SEALED)) != 0;
    }

    private RefSpace argumentSpace(String argument) {
        if (isIsolated()) {
            return isolatedArguments();
        }
        CallMemory.requireTrusted(connection.service.demanded(methodIndex), method(), argument);
        return connection.link.refs();
    }

    private RefSpace isolatedArguments() {
        return ownMemory().arguments(flags, isolation, connection.service.demanded(methodIndex));
    }

    private CallMemory ownMemory() {
        if (callMemory == null) {
            callMemory = new CallMemory(connection.link, connection.service, connection);
        }
        return callMemory;
    }

    /** Where the handler allocates what it needs until the call has ended. */
    Scope temporaryScope() {
        return ownMemory().temporaryScope(isIsolated() ? isolatedArguments() : connection.link.refs());
    }

    @Override
    public long share(Object sharedObject) {
        if (callMemory != null && callMemory.isArgument(sharedObject)) {
            return SharedObject.refOf(sharedObject);
        }
        long shared = connection.link.share(sharedObject, name());
        if (reply != null && Ref.arenaId(shared) == connection.link.replyArena().id()) {
            reply.returned(shared);
        }
        return shared;
    }

    /** Where the handler allocates what it returns by pointer. */
    ReplyScope replyScope() {
        if (reply == null) {
            reply = connection.link.newReplyScope();
        }
        return reply;
    }

    @Override
    public RpcContext context() {
        ServerContext present = context;
        if (present == null) {
            if ((flags & SlotLayout.METADATA) != 0) {
                arguments();
            }
            present = new ServerContext(this, method(), headers, deadline, connection.peer());
            context = present;
            if (unwanted || connection.isClosed()) {
                present.cancel();
            }
        }
        return present;
    }

    @Override
    public long deadlineNanos() {
        return deadline;
    }

    private MethodDescriptor method() {
        return connection.service.method(methodIndex);
    }

    private String name() {
        return connection.service.hasMethod(methodIndex)
                ? method().fullName()
                : connection.service.channel() + "/#" + methodIndex;
    }

    // ---- answering later

    /** From now on the call ends by {@link #succeed} or {@link #fail}, on whatever thread. */
    void defer() {
        deferredTicket = ticket;
        connection.answerDeferred();
    }

    @Override
    public <T> void completeWith(CompletionStage<T> stage, ResultWriter<T> resultWriter) {
        if (stage == null) {
            throw nullResult("a CompletableFuture");
        }
        defer();
        stage.whenComplete((value, failure) -> {
            if (!mayAnswer()) {
                return;
            }
            // Another client's handler may complete it.
            int confined = connection.link.wall().lift();
            try {
                if (failure != null) {
                    fail(failure);
                } else {
                    resultWriter.write(result(), this, value);
                    succeed();
                }
            } catch (Throwable t) {
                fail(t);
            } finally {
                endAnswer();
                connection.link.wall().lower(confined);
            }
        });
    }

    /** Whether a deferred call may still be answered, which {@link #endAnswer} then ends. If its client is gone, it has ended with this. */
    boolean mayAnswer() {
        if (connection.enter()) {
            return true;
        }
        forsake();
        connection.deferredEnds();
        return false;
    }

    /** After a deferred call was answered. */
    void endAnswer() {
        try {
            connection.wakeSleepers();
        } finally {
            connection.deferredEnds();
            connection.leave();
        }
    }

    private RpcException nullResult(String instead) {
        return Status.Code.INTERNAL
                .with("%s: the handler returned null instead of %s", name(), instead)
                .asException();
    }

    /** After a handler has returned on another thread than the poller's. */
    void endAside() {
        if (!connection.isClosed()) {
            connection.wakeSleepers();
        }
        connection.callEnds();
    }

    @Override
    public <T> void streamFrom(Stream<T> elements, ResultWriter<T> resultWriter) {
        if (elements == null) {
            throw nullResult("a Stream");
        }
        // The elements may still be computed from the arguments when this slot serves its next call.
        ServerStream<T> stream = connection.streams.open(elements, resultWriter, name(), callMemory);
        sealIsStreams = callMemory != null && (flags & SlotLayout.SEALED) != 0 && callMemory.has(isolation);
        callMemory = null;
        defer();
        stream.pull(this);
        stream.start();
    }

    // ---- ending it

    /** Publishes what was encoded, unless nobody wants it any more. */
    void succeed() {
        if (unwanted) {
            fail(Status.Code.CANCELLED
                    .with("%s: its caller no longer waits", name())
                    .asException());
            return;
        }
        int inlineLength = 0;
        int resultFlags = 0;
        if (encoding) {
            if (buffer.isInline()) {
                inlineLength = (int) writer.length();
            } else {
                resultFlags = SlotLayout.OUTSIDE;
                SlotLayout.responseOutside(memory, slot, writer.length(), buffer.ref());
            }
        }
        if (reply != null) {
            connection.link.handOver(reply, ticket, () -> unwanted);
        }
        respond(SlotLayout.word(ticket, 0, resultFlags, inlineLength), Status.OK);
    }

    /** Publishes a failure. */
    void fail(Throwable cause) {
        Failure failure = Failure.of(cause, name(), encoding, isIsolated());
        if (reply != null) {
            reply.discard();
        }
        int inlineLength;
        int failureFlags = SlotLayout.METADATA;
        try {
            inlineLength = encode(failure);
        } catch (RuntimeException | Error e) {
            // No memory for all of it; its beginning has room in the slot.
            inlineLength = encodeShortened(failure);
        }
        if (inlineLength == 0) {
            failureFlags = 0;
        } else if (!buffer.isInline()) {
            failureFlags |= SlotLayout.OUTSIDE;
            SlotLayout.responseOutside(memory, slot, writer.length(), buffer.ref());
            inlineLength = 0;
        }
        int number = failure.status().code().number();
        respond(SlotLayout.word(ticket, number, failureFlags, inlineLength), failure.status());
    }

    private int encode(Failure failure) {
        writer.begin(buffer.start());
        MetadataCodec.writeFailure(writer, failure.status(), failure.trailers());
        return (int) writer.length();
    }

    /** Returns 0 if even that has no room: then the code alone must do. */
    private int encodeShortened(Failure failure) {
        String description = failure.status().description();
        String cut = description.substring(0, Math.min(SHORT_DESCRIPTION, description.length()));
        try {
            return encode(new Failure(failure.status().code().with(cut), Metadata.EMPTY));
        } catch (RuntimeException | Error e) {
            return 0;
        }
    }

    private void respond(long word, Status ended) {
        CallObserver toTell = settle();
        // Release: pairs with the acquire in isBusy(); the poller that begins the slot's next call sees this one's
        // fields settled.
        BUSY.setRelease(this, false);
        SlotLayout.publishResponse(memory, slot, word);
        // Behind the response, and release: pairs with the acquire in takeUnwoken(). Another thread that takes the mark
        // wakes the sleeper, who then has to find the response: this thread will not wake him again.
        UNWOKEN.setRelease(this, true);
        Observers.tell(toTell, ended);
    }

    /** Ends the call though its client is gone, and the connection's memory may be, so that nothing can be published. */
    private void forsake() {
        if (reply != null) {
            reply.discard();
        }
        CallObserver toTell = settle();
        BUSY.setRelease(this, false);
        Observers.tell(toTell, Status.Code.CANCELLED.with("%s: its client is gone", name()));
    }

    /** Gives back what the call had; returns who is to hear how it ended. */
    private CallObserver settle() {
        CallObserver toTell = observer;
        // As in ShmClientCall: a comparison is cheaper than a reference store.
        if (toTell != CallObserver.NONE) {
            observer = CallObserver.NONE;
        }
        if (headers != Metadata.EMPTY) {
            headers = Metadata.EMPTY;
        }
        if (reply != null) {
            reply = null;
        }
        if (context != null) {
            context.end();
        }
        if (counted != 0) {
            connection.give(counted);
            counted = 0;
        }
        leaveArguments();
        return toTell;
    }

    /** Before the response, since whoever sees it may release the seal of the arguments. */
    private void leaveArguments() {
        boolean unread = (flags & SlotLayout.SEALED) != 0
                && !sealIsStreams
                && (callMemory == null || !callMemory.has(isolation));
        if (callMemory != null) {
            callMemory.leave();
        }
        if (unread) {
            connection.link.markDone(isolation);
        }
    }

    /** Whether a response was published here that nobody was woken for yet; of several who ask, one is told. */
    boolean takeUnwoken() {
        return (boolean) UNWOKEN.getOpaque(this) && (boolean) UNWOKEN.getAndSetAcquire(this, false);
    }

    // ---- what is not a service method

    void serveControl() throws ProtocolException {
        if (length != Long.BYTES) {
            throw new ProtocolException("a control request " + methodIndex + " of " + length + " bytes");
        }
        open();
        long operand = reader.readLong();
        switch (methodIndex) {
            case ControlOp.CANCEL -> {
                connection.cancel(operand);
                succeed();
            }
            case ControlOp.RELEASE -> {
                connection.link.releaseReply(operand);
                succeed();
            }
            case ControlOp.READ -> {
                connection.answerRead(operand);
                succeed();
            }
            case ControlOp.STREAM_PULL -> {
                ServerStream<?> stream = connection.streams.find(operand);
                if (stream == null) {
                    fail(Status.Code.NOT_FOUND
                            .with("the server has no open stream %d on this connection", operand)
                            .asException());
                } else {
                    defer();
                    stream.pull(this);
                }
            }
            case ControlOp.STREAM_CLOSE -> {
                connection.streams.close(operand);
                succeed();
            }
            default -> throw new ProtocolException("an unknown control request " + methodIndex);
        }
    }

    /** The client has read the answer to the call with that ticket, the slot's last one. On the poller's thread, as {@link #begin}. */
    void answerRead(long readTicket) {
        if (!isBusy() && ticket == readTicket) {
            buffer.trim();
        }
    }

    /** The caller no longer waits, if the slot still serves that ticket. */
    void cancel(long cancelledTicket) {
        if (isBusy() && ticket == cancelledTicket) {
            cancelled();
        }
    }

    /** The caller no longer waits, or is gone. */
    void cancelled() {
        if (isBusy()) {
            unwanted = true;
            ServerContext running = context;
            if (running != null) {
                running.cancel();
            }
        }
    }
}
