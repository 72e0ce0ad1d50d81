package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.ByteObserver;
import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.spi.CallMeters;
import dev.rackcall.rpc.spi.CallThread;
import dev.rackcall.rpc.spi.EndObservers;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/**
 * The server's side of one slot: a call from the moment its request was taken until its response is published. Reused
 * by the slot's calls. The poller begins a call, and the thread that serves it ends it.
 *
 * <p>{@link ServerRequest} has the request, {@link ServerResponse} the response, {@link CallObjects} the objects passed
 * by pointer.
 */
final class ShmServerCall extends DeferrableCall {
    private static final VarHandle BUSY;

    static {
        try {
            BUSY = MethodHandles.lookup().findVarHandle(ShmServerCall.class, "busy", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final ShmServerConnection connection;
    final ServerRequest request;
    final ServerResponse response;
    final CallObjects objects;

    private final int index;

    /** Set by the poller, cleared at the call's end: a client that reuses the slot before that breaks the protocol. */
    @SuppressWarnings("unused") // BUSY
    private boolean busy;

    /**
     * The last ticket whose handler left the answer to another thread. Only grows, so that the slot's next call cannot
     * undo it.
     */
    private long deferredTicket = -1;

    /** Whether the call runs inside interceptors. Written by the poller. */
    private boolean intercepted;
    /** The interceptors of the running call; null if none is enabled. Used until the call is deferred. */
    private InterceptorChain chain;
    /**
     * The meters' observer of a call without streams, which needs no {@link ServerContext}. Used like {@link #chain},
     * and then by the thread that ends the call.
     */
    private CallObserver measured = CallObserver.NONE;
    /** Whether a stream ends the call and notifies its observers. */
    private boolean streamed;
    /** What the caller sends; null if it sends no stream. Written by the poller. */
    private volatile IncomingStream incoming;
    /** Written by the thread that serves, read by the poller on a cancellation: volatile, as {@link #unwanted}. */
    private volatile ServerContext context;

    /**
     * Whether the caller no longer waits. Set before {@link #context} is read. The thread that makes the context reads
     * this flag afterwards.
     */
    private volatile boolean unwanted;

    ShmServerCall(ShmServerConnection connection, int index) {
        this.connection = connection;
        this.index = index;
        long slot = ControlLayout.slot(index);
        ServerEnd end = connection.end;
        ServiceBinding service = connection.service;
        this.request = new ServerRequest(end, connection.services, connection.payloads, connection.clock, slot);
        this.response = new ServerResponse(end, service, slot);
        this.objects = new CallObjects(end, service, connection.payloads, request, response);
    }

    long slot() {
        return ControlLayout.slot(index);
    }

    // ---- taking the request: on the poller's thread

    void begin(long ticket, long word) throws ProtocolBreachException {
        if (isBusy()) {
            throw new ProtocolBreachException("request " + ticket + " came in a slot whose call is still under way");
        }
        // A new request implies that the answer to the last one was read or is unwanted.
        response.forgetLast();
        request.begin(ticket, word);
        response.begin(request.service());
        if (context != null) {
            context = null;
        }
        if (chain != null) {
            chain = null;
        }
        if (streamed) {
            streamed = false;
        }
        if (incoming != null) {
            incoming = null;
        }
        if (unwanted) {
            unwanted = false;
        }
        BUSY.setRelease(this, true);
    }

    private boolean isBusy() {
        return (boolean) BUSY.getAcquire(this);
    }

    // ---- serving it: on one thread

    /** Finds out whether an interceptor is enabled, once: it decides which thread runs the handler, and how. */
    void askInterceptors() {
        intercepted = connection.service.isIntercepted();
    }

    /**
     * Whether the handler needs a thread that serves no other call: it waits for the elements that its caller sends, or
     * its interceptors are to wrap the whole stream that it returns.
     */
    boolean needsOwnThread() {
        ServiceBinding service = request.service();
        if ((!intercepted && !service.receivesStreams()) || !service.hasMethod(request.methodIndex())) {
            return false;
        }
        MethodDescriptor.Kind kind = request.method().kind();
        return kind.sendsStream() || (intercepted && kind.returnsStream());
    }

    /**
     * Receives from now on what the caller sends, if it sends a stream. Poller only, and before the next request is
     * taken: the elements follow.
     *
     * @return false if the client sends too many streams
     */
    boolean openIncoming() {
        if (request.method().kind().sendsStream()) {
            if (connection.incoming.size() >= IncomingStream.MAX_OPEN) {
                return false;
            }
            IncomingStream stream = new IncomingStream(
                    connection.incoming,
                    request.ticket(),
                    request.name(),
                    request.service(),
                    connection.clock,
                    request.deadline());
            incoming = stream;
            if (unwanted) {
                stream.close(cancellation());
            }
        }
        return true;
    }

    private Status cancellation() {
        return connection.use.isClosed()
                ? IncomingStream.clientGone(request.name())
                : Status.Code.CANCELLED.with("%s: its caller no longer waits", request.name());
    }

    @Override
    public <T> Stream<T> receiveStream(ElementReader<T> reader) {
        ServerContext told = context;
        return told == null || !told.countsBytes()
                ? incoming.elements(reader)
                : incoming.elements(in -> {
                    long before = in.remaining();
                    T element = reader.read(in);
                    told.copied(before - in.remaining());
                    return element;
                });
    }

    /**
     * Runs the handler on the calling thread and answers, unless the handler deferred the answer.
     *
     * @return whether the thread must still call {@link #endAside}
     */
    boolean run() {
        // A deferred call may end, and its slot serve the next call, before the handler has returned here.
        long served = request.ticket();
        InterceptorChain around = null;
        CallThread.serve(connection.calls(), index);
        CallThread.forgetInterrupt();
        try {
            request.requireServable();
            if (request.service().meters().areEnabled()) {
                measure();
            }
            if (intercepted) {
                around = new InterceptorChain(this);
                chain = around;
            }
            try {
                if (connection.walled) {
                    wall().run(this::handle);
                } else {
                    handle();
                }
            } finally {
                // Also before the answer: an interrupt would close the socket that the answer is sent through.
                CallThread.forgetInterrupt();
            }
            if (around != null && around.hasEnding()) {
                around.end(null);
            } else if (deferredTicket < served) {
                succeed();
            }
        } catch (Throwable t) {
            if (around != null && around.hasEnding()) {
                around.end(t);
            } else if (deferredTicket < served) {
                fail(t);
            }
        } finally {
            CallThread.serveNone();
        }
        return around == null || !around.hasLeftConnection();
    }

    /** Begins to measure the call. */
    private void measure() {
        // Decode the headers now: counting the call's bytes needs them.
        request.headers();
        MethodDescriptor method = request.method();
        CallObserver observer = request.service().meters().begins(method, connection.end.transport());
        MethodDescriptor.Kind kind = method.kind();
        if (kind.sendsStream() || kind.returnsStream()) {
            context().onEnd(observer);
            if (observer instanceof ByteObserver bytes) {
                context().onBytes(bytes);
            }
        } else if (measured != observer) {
            measured = observer;
        }
    }

    /** Interceptors, then the generated dispatcher, which calls the service. */
    private void handle() throws Exception {
        InterceptorChain around = chain;
        if (around != null) {
            around.run();
        } else {
            dispatch();
        }
    }

    void dispatch() throws Exception {
        request.service().dispatcher().dispatch(request.methodIndex(), this);
    }

    @Override
    HandlerWalls.Wall wall() {
        return connection.end.wall();
    }

    @Override
    public PayloadReader arguments() {
        return request.arguments();
    }

    @Override
    public PayloadWriter result() {
        returnStores();
        return response.result();
    }

    /** The handler's stores precede its result. */
    private void returnStores() {
        if (!response.isEncoding()) {
            objects.returnStores();
        }
    }

    @Override
    public <T> T shared(Class<T> type, long ref, String argument) {
        return objects.argument(type, ref, argument);
    }

    @Override
    public long share(Object sharedObject) {
        return objects.share(sharedObject);
    }

    @Override
    public RpcContext context() {
        ServerContext present = context;
        if (present == null) {
            present = new ServerContext(
                    objects,
                    request.method(),
                    request.headers(),
                    connection.clock,
                    request.deadline(),
                    connection.peer(),
                    connection.end.transport());
            context = present;
            if (unwanted || connection.use.isClosed()) {
                present.cancel();
            }
        }
        return present;
    }

    @Override
    public long deadlineNanos() {
        return request.systemDeadline();
    }

    // ---- answering later

    /** From now on {@link #succeed} or {@link #fail} ends the call, on any thread. */
    void defer() {
        deferredTicket = request.ticket();
        connection.use.answerDeferred();
    }

    @Override
    public <T> void completeWith(CompletionStage<T> stage, ResultWriter<T> resultWriter) {
        if (stage == null) {
            throw nullResult("a CompletableFuture");
        }
        InterceptorChain around = chain;
        if (around == null) {
            answerWith(stage, resultWriter);
        } else {
            around.leave(failure -> {
                if (failure == null) {
                    answerWith(stage, resultWriter);
                } else {
                    fail(failure);
                }
            });
        }
    }

    private <T> void answerWith(CompletionStage<T> stage, ResultWriter<T> resultWriter) {
        defer();
        StageAnswer<T> answer = new StageAnswer<>(this, resultWriter);
        try {
            stage.whenComplete(answer);
        } catch (RuntimeException | Error e) {
            // The call is deferred, so only this thread can end it.
            answer.accept(null, e);
        }
    }

    @Override
    public <T> void streamFrom(Stream<T> elements, ResultWriter<T> resultWriter) {
        if (elements == null) {
            throw nullResult("a Stream");
        }
        InterceptorChain around = chain;
        ServerStream<T> stream = connection.streams.open(
                new ServerStream.Opener(request.ticket(), request.name(), request.service(), context, incoming),
                elements,
                resultWriter,
                objects::giveAway);
        streamed = true;
        // A cancellation sets `unwanted` before it searches for the stream: either it finds the stream, or this read
        // sees it. Read before the call is deferred, since from then on the slot may serve its next call.
        boolean forsaken = unwanted;
        defer();
        if (around == null) {
            stream.pull(this);
            stream.start();
            if (forsaken) {
                stream.cancel();
            }
            return;
        }
        around.leave(stream::end);
        stream.pull(this);
        // The slot may serve its next call, which is not this thread's.
        CallThread.serveNone();
        around.leaveConnection();
        endAside();
        if (forsaken) {
            stream.cancel();
        }
        stream.produceHere();
    }

    private RpcException nullResult(String instead) {
        return Status.Code.INTERNAL
                .with("%s: the handler returned null instead of %s", request.name(), instead)
                .asException();
    }

    @Override
    void answerLate(Runnable answer) {
        ConnectionUse use = connection.use;
        if (!use.enter()) {
            forsake();
            use.deferredEnds();
            return;
        }
        try {
            answerAndWake(answer);
        } finally {
            use.deferredEnds();
            use.leave();
        }
    }

    @Override
    boolean readLate(Runnable reading) {
        if (!connection.use.enter()) {
            return false;
        }
        try {
            reading.run();
            return true;
        } finally {
            connection.use.leave();
        }
    }

    private void answerAndWake(Runnable answer) {
        try {
            answer.run();
        } catch (RuntimeException | Error e) {
            fail(e);
        } finally {
            connection.wakeSleepers();
        }
    }

    /** Called after a handler has returned on another thread than the poller's. */
    void endAside() {
        if (!connection.use.isClosed()) {
            connection.wakeSleepers();
        }
        connection.use.callEnds();
    }

    // ---- ending it

    @Override
    boolean succeed() {
        if (unwanted) {
            fail(Status.Code.CANCELLED
                    .with("%s: its caller no longer waits", request.name())
                    .asException());
            return false;
        }
        if (context != null && context.hasSaidOverdue()) {
            fail(Status.Code.DEADLINE_EXCEEDED
                    .with("%s: its handler was told that the deadline had passed, and ended", request.name())
                    .asException());
            return false;
        }
        if (objects.haveLostTheirSeal()) {
            fail(Status.Code.ABORTED
                    .with(
                            "%s: the holder of its arguments' seal has ended, so they may have changed under the handler; call again",
                            request.name())
                    .asException());
            return false;
        }
        returnStores();
        // A stream counts its elements itself.
        long resultBytes = streamed || (context == null && measured == CallObserver.NONE) ? 0 : response.resultBytes();
        takeTrailers();
        long word = response.success(request.ticket());
        if (objects.hasReply()) {
            objects.handOver(() -> unwanted);
        }
        respond(word, Status.OK, response.trailers(), resultBytes);
        return true;
    }

    private void takeTrailers() {
        ServerContext seen = context;
        if (seen != null) {
            response.addTrailers(seen.takeTrailers());
        }
    }

    @Override
    void addTrailers(Metadata trailers) {
        response.addTrailers(trailers);
    }

    /** Whether the call's deadline has passed, or its caller no longer waits. */
    boolean isOver() {
        return unwanted || request.isLate();
    }

    @Override
    void fail(Throwable cause) {
        // If this side has ended the connection, the client is told of that end, not of its effects on the handler.
        if (connection.use.isClosed()) {
            forsake();
            return;
        }
        Failure failure = Failure.of(cause, request.name(), response.isEncoding(), request.isIsolated(), isOver());
        objects.discardReply();
        takeTrailers();
        long word = response.failure(request.ticket(), failure);
        respond(word, failure.status(), response.trailers(), 0);
    }

    private void respond(long word, Status ended, Metadata trailers, long resultBytes) {
        CallObserver toTell = settle();
        // Once the slot is free, its next call may change these fields.
        ServerContext told = context;
        CallObserver meters = measured;
        long copied = told == null && meters == CallObserver.NONE ? 0 : request.argumentBytes() + resultBytes;
        if (meters != CallObserver.NONE) {
            measured = CallObserver.NONE;
        }
        // Release: pairs with the acquire in isBusy(). The poller that begins the slot's next call sees this one's
        // fields settled.
        BUSY.setRelease(this, false);
        response.publish(word);
        connection.end.answered(index);
        if (told != null) {
            told.copied(copied);
        }
        EndObservers.tell(toTell, ended, trailers);
        if (meters != CallObserver.NONE) {
            CallMeters.tell(meters, ended, trailers, copied);
        }
    }

    /** Ends the call without an answer: its client is gone, and the connection's memory may be. */
    void forsake() {
        objects.discardReply();
        CallObserver toTell = settle();
        String name = request.name();
        ServerContext told = context;
        CallObserver meters = measured;
        long copied = told == null && meters == CallObserver.NONE ? 0 : request.argumentBytes();
        measured = CallObserver.NONE;
        BUSY.setRelease(this, false);
        if (told != null) {
            told.copied(copied);
        }
        Status gone = Status.Code.CANCELLED.with("%s: its client is gone", name);
        EndObservers.tell(toTell, gone, Metadata.EMPTY);
        CallMeters.tell(meters, gone, Metadata.EMPTY, copied);
    }

    /** Releases the call's resources; returns the observer to tell. */
    private CallObserver settle() {
        CallObserver toTell = CallObserver.NONE;
        ServerContext seen = context;
        if (seen != null) {
            if (!streamed) {
                toTell = seen.observers();
            }
            seen.end();
        }
        request.end();
        objects.leaveArguments();
        IncomingStream received = incoming;
        if (received != null && !streamed) {
            received.close();
        }
        return toTell;
    }

    /** The client has read the answer to that ticket, if it is the slot's last. Poller only, as {@link #begin}. */
    void answerRead(long readTicket) {
        if (!isBusy() && request.ticket() == readTicket) {
            response.forgetLast();
        }
    }

    /** The caller no longer waits, if the slot still serves that ticket. Poller only. */
    void cancel(long cancelledTicket) {
        if (request.ticket() == cancelledTicket) {
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
            IncomingStream received = incoming;
            if (received != null) {
                received.close(cancellation());
            }
        }
    }

    /**
     * Answers a call with the result of its handler's stage, and only once: a second completion is ignored, since the
     * slot may by then serve its next call.
     */
    static final class StageAnswer<T> implements BiConsumer<T, Throwable> {
        private static final VarHandle GIVEN;

        static {
            try {
                GIVEN = MethodHandles.lookup().findVarHandle(StageAnswer.class, "given", boolean.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private final DeferrableCall call;
        private final ResultWriter<T> writer;

        @SuppressWarnings("unused") // GIVEN
        private volatile boolean given;

        StageAnswer(DeferrableCall call, ResultWriter<T> writer) {
            this.call = call;
            this.writer = writer;
        }

        /** Called on the thread that completes the stage. */
        @Override
        public void accept(T value, Throwable failure) {
            if (!GIVEN.compareAndSet(this, false, true)) {
                return;
            }
            HandlerWalls.Wall wall = call.wall();
            // The completing thread may be in another client's handler.
            int confined = wall.lift();
            try {
                call.answerLate(() -> end(value, failure));
            } finally {
                wall.lower(confined);
            }
        }

        private void end(T value, Throwable failure) {
            if (failure == null) {
                writer.write(call.result(), call, value);
                call.succeed();
            } else {
                call.fail(failure);
            }
        }
    }
}
