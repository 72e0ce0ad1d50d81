package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.KryoCodec;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.ControlOp;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import dev.rackcall.shm.types.SharedObject;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client's end of a connection: begins calls, publishes requests, rings when the server does not poll, and ends all
 * calls when the connection ends. {@link ClientSlots} chooses a call's slot; {@link AnswerWaiting} and {@link
 * AsyncCalls} wait for its answer. Thread-safe.
 */
public final class ShmClientConnection extends ClientConnection
        implements ClientEnd.Owner,
                ClientStream.Source,
                OutgoingStream.Sink,
                ServiceConnection.Base,
                CallQueue.Exit,
                QueuedCall.Over,
                ClientDrain.Connection {
    private static final Logger LOG = LoggerFactory.getLogger(ShmClientConnection.class);
    /** How long {@link #close} waits for slots for one-way calls. */
    private static final long LAST_SENDS_NANOS = TimeUnit.SECONDS.toNanos(1);

    public final ClientEnd end;
    public final ClientMemory arenas;
    final MemorySegment memory;
    /** The service of the channel that was connected to. */
    final CalledService first;

    public final ClientSpec spec;
    /** Deadlines inside of the connection are times on it. */
    final DeadlineClock clock;

    final ClientSlots slots;
    final AnswerWaiting waiting;
    final AsyncCalls async;
    final UnreleasedResults unreleased;
    private final SentStreams sent;
    private final ClientDrain drain;

    /** Streams that are read; between two of their requests, they have no slot. */
    private final AtomicInteger streams = new AtomicInteger();

    /** False once the connection has ended. */
    private volatile boolean open = true;

    /** False once the connection has ended or the server drains. */
    private volatile boolean usable = true;

    private volatile Runnable onUnusable = () -> {};

    public ShmClientConnection(ClientEnd end, ClientSpec spec) {
        this.end = end;
        this.arenas = end.arenas();
        this.memory = arenas.memory();
        this.first = new CalledService(0, end.serverHello().service());
        this.spec = spec;
        this.clock = spec.clock();
        this.slots = ClientSlots.of(this);
        this.sent = new SentStreams(spec, slots.all().length);
        this.waiting = new AnswerWaiting(this);
        this.unreleased =
                new UnreleasedResults(spec.channel(), arenas.replyMemory().byteSize());
        this.async = new AsyncCalls(this, slots.all());
        this.drain = new ClientDrain(this, async.queue(), unreleased, arenas);
        arenas.releaseBy(this::release);
    }

    @Override
    public ClientCall begin(
            MethodDescriptor method, long deadline, Metadata headers, Isolation isolation, CallObserver observer) {
        return begin(first, method, deadline, headers, isolation, observer);
    }

    @Override
    public ClientCall begin(
            CalledService service,
            MethodDescriptor method,
            long systemDeadline,
            Metadata headers,
            Isolation isolation,
            CallObserver observer) {
        long deadline = clock.ofSystem(systemDeadline);
        ShmClientCall call;
        if (method.kind().isAsynchronous()) {
            call = claimUnlessQueued();
            if (call == null) {
                return queued(service, method, deadline, headers, isolation, observer);
            }
        } else if (method.kind().sendsStream()) {
            return beginSending(service, method, deadline, headers, isolation, observer);
        } else {
            call = claim(deadline);
        }
        requireUsable(call);
        call.begin(service, method, deadline, headers, isolation, observer);
        return call;
    }

    private QueuedCall queued(
            CalledService service,
            MethodDescriptor method,
            long deadline,
            Metadata headers,
            Isolation isolation,
            CallObserver observer) {
        // Before `usable` is read.
        drain.callBegins();
        try {
            if (!usable) {
                throw notSent();
            }
            async.queue().requireRoom(method.fullName(), 0);
            return new QueuedCall(this, service, method, deadline, headers, isolation, observer);
        } catch (RuntimeException | Error e) {
            drain.callQueuedOrAbandoned();
            throw e;
        }
    }

    @Override
    public void queuedOrAbandoned() {
        drain.callQueuedOrAbandoned();
    }

    /**
     * Called after a slot was claimed. A call with an earlier slot than {@link ControlOp#LAST_CALL} is sent before it; a
     * later call sees here that the server drains: the compare-and-set of the ring's tail by LAST_CALL follows the store
     * to `usable`, and the one of a later call precedes this load.
     */
    private void requireUsable(ShmClientCall call) {
        if (!usable) {
            giveBack(call);
            throw notSent();
        }
    }

    private RpcException notSent() {
        return open
                ? Status.Code.UNAVAILABLE
                        .with(
                                "channel %s: its server is shutting down; the call was not sent, call again",
                                spec.channel())
                        .asException()
                : end.failure();
    }

    private ShmClientCall claim(long deadline) {
        return async.queue().isEmpty() ? claimAfterControls(deadline) : claimInTurn(deadline);
    }

    private ShmClientCall claimAfterControls(long deadline) {
        async.sendControlsFirst();
        return slots.claim(deadline);
    }

    private ShmClientCall beginSending(
            CalledService service,
            MethodDescriptor method,
            long deadline,
            Metadata headers,
            Isolation isolation,
            CallObserver observer) {
        // Before it has a slot: the calls that it waits for need slots to end.
        sent.enter(method, deadline, slots::passOverOwn);
        try {
            ShmClientCall call = claim(deadline);
            requireUsable(call);
            call.begin(service, method, deadline, headers, isolation, observer);
            call.maySend();
            return call;
        } catch (RuntimeException | Error e) {
            sent.leave();
            throw e;
        }
    }

    /** A slot for an asynchronous call; null if it has to wait, as earlier ones do. */
    private ShmClientCall claimUnlessQueued() {
        ShmClientCall call = claimIfNoneWaits();
        if (call == null) {
            // Answers that have arrived make room.
            async.poll();
            call = claimIfNoneWaits();
        }
        return call;
    }

    private ShmClientCall claimIfNoneWaits() {
        async.sendControlsFirst();
        return async.queue().isEmpty() && !slots.queue.hasWaiters() ? slots.claimNow() : null;
    }

    /** Waits for a slot until the asynchronous calls that began before have been sent: calls keep their order. */
    private ShmClientCall claimInTurn(long deadline) {
        CallQueue queue = async.queue();
        long before = queue.added();
        return slots.claimSlowly(deadline, () -> {
            queue.flush();
            return queue.haveLeft(before) ? slots.claimNow() : null;
        });
    }

    // ---- for calls in the queue

    @Override
    public ClientSpec spec() {
        return spec;
    }

    @Override
    public CallQueue queue() {
        return async.queue();
    }

    @Override
    public ClientCall claimNow() {
        async.sendControlsFirst();
        return slots.claimNow();
    }

    @Override
    public boolean hasEarlierThread() {
        return slots.queue.cameBefore(async.queue());
    }

    @Override
    public void wakeThread() {
        slots.queue.wakeFirst();
    }

    @Override
    public void giveBack(ClientCall slot) {
        ShmClientCall call = (ShmClientCall) slot;
        try {
            slots.skip(call, call.ticket());
        } finally {
            call.releaseUntaken();
        }
    }

    @Override
    public void callQueued() {
        end.reactor().wakeIfIdle();
    }

    @Override
    public Optional<RpcException> end() {
        return open ? Optional.empty() : Optional.of(end.failure());
    }

    @Override
    public SentArguments newArguments() {
        return new SentArguments(arenas);
    }

    @Override
    public void begin(ClientCall slot, QueuedCall call) {
        ((ShmClientCall) slot).begin(call);
    }

    @Override
    public void help(PolledFuture<?> future, long until) {
        async.help(future, until);
    }

    @Override
    public void passOverOwn() {
        slots.passOverOwn();
    }

    /**
     * Returns false if the memory is gone because the connection has ended; otherwise rethrows. For threads that read
     * the memory without holding a slot.
     */
    boolean rethrowIfOpen(IllegalStateException thrown) {
        if (open) {
            throw thrown;
        }
        return false;
    }

    /** Publishes the request half of {@code slot}, and wakes the server if it does not poll. */
    void publish(long slot, long word) {
        SlotLayout.publishRequest(memory, slot, word);
        tell();
    }

    /** Lets the server see what was stored before: wakes it if it sleeps. */
    void tell() {
        // Orders our stores before our check of `watched`. The server fences between clearing `watched` and its last
        // check of the slot.
        VarHandle.fullFence();
        if (!ControlLayout.isWatched(memory)) {
            if (end.isMirrored()) {
                // A server with memory of its own never polls this memory.
                end.push();
            } else if (ControlLayout.mustRing(memory)) {
                ring();
            }
        }
    }

    /**
     * Whether the server, on this host, has stopped polling: before that it has woken the threads whose answers it had
     * given. False once the connection has ended.
     */
    boolean hasRestingServer() {
        try {
            return end.hasServerOnThisHost() && open && !ControlLayout.isWatched(memory);
        } catch (IllegalStateException e) {
            // Callers need not hold a slot.
            return rethrowIfOpen(e);
        }
    }

    /** Others rely on this ring. */
    private void ring() {
        try {
            end.ring();
        } catch (RuntimeException | Error e) {
            ControlLayout.notRung(memory);
            throw e;
        }
    }

    /** Tells the server that no caller waits for the call with that ticket any more. */
    void cancel(long ticket) {
        control(ControlOp.CANCEL, ticket);
    }

    @Override
    public void control(int op, long operand) {
        async.control(op, operand);
    }

    @Override
    public void pull(
            CalledService service,
            MethodDescriptor method,
            long id,
            long deadline,
            BiConsumer<PayloadReader, ClientCall> taker) {
        ShmClientCall call = claimAfterControls(deadline);
        try {
            taker.accept(call.callControl(service, method, ControlOp.STREAM_PULL, id, deadline), call);
        } catch (PayloadException e) {
            throw call.rejected(e);
        } finally {
            call.close();
        }
    }

    @Override
    public boolean push(
            CalledService service, MethodDescriptor method, long deadline, Consumer<PayloadWriter> operands) {
        ShmClientCall call = claimAfterControls(deadline);
        try {
            PayloadReader answer = call.callControl(service, method, ControlOp.STREAM_PUSH, operands, deadline);
            return answer.readBoolean();
        } catch (PayloadException e) {
            throw call.rejected(e);
        } catch (OutOfArenaException e) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with("%s: %s", method, e.getMessage())
                    .asException(e);
        } finally {
            call.close();
        }
    }

    @Override
    public void sends(OutgoingStream<?> stream) {
        sent.add(stream);
    }

    @Override
    public void ended(OutgoingStream<?> stream) {
        sent.remove(stream);
    }

    /** A call that might have sent a stream has ended without one. */
    void endSending() {
        sent.leave();
    }

    @Override
    public void closeStream(long id) {
        control(ControlOp.STREAM_CLOSE, id);
    }

    @Override
    public void reads(int more) {
        streams.addAndGet(more);
    }

    /**
     * Makes the server join the session in which a holder has this side's seals.
     *
     * @throws dev.rackcall.rpc.RpcException if it cannot
     */
    void enforceSeals(long sessionHigh, long sessionLow, Duration bound) {
        ask(ControlOp.JOIN_SEALS, sessionHigh, sessionLow, bound, _ -> true);
    }

    /**
     * Sends a control request of two operands and waits for its answer.
     *
     * @throws dev.rackcall.rpc.RpcException the request's failure
     */
    public <T> T ask(int op, long first, long second, Duration bound, Function<PayloadReader, T> reader) {
        long deadline = clock.nanoTime() + bound.toNanos();
        ShmClientCall call = slots.claimToAsk(deadline);
        try {
            return reader.apply(call.callControl(op, first, second, deadline));
        } catch (PayloadException e) {
            throw call.rejected(e);
        } finally {
            call.close();
        }
    }

    @Override
    public Optional<ClientConnection> bind(String channel, long systemDeadline) {
        long deadline = clock.ofSystem(systemDeadline);
        ShmClientCall call = slots.claimToAsk(deadline);
        try {
            PayloadReader answer = call.callBind(channel, deadline);
            int number = answer.readInt();
            long fingerprint = answer.readLong();
            ServedInterface served = new ServedInterface(answer.readString(), fingerprint, answer.readString());
            if (number < 0 || number >= SlotLayout.MAX_SERVICES) {
                throw new PayloadException("a service cannot have number " + number);
            }
            return Optional.of(
                    number == first.number
                            ? this
                            : new ServiceConnection(this, this, new CalledService(number, served)));
        } catch (PayloadException e) {
            throw call.rejected(e);
        } catch (RpcException e) {
            if (e.code() == Status.Code.NOT_FOUND) {
                return Optional.empty();
            }
            throw e;
        } finally {
            call.close();
        }
    }

    @Override
    public Route.Kind transport(MethodDescriptor method) {
        return isUsable() ? end.transport() : null;
    }

    @Override
    public boolean isUsable() {
        return usable;
    }

    @Override
    public boolean hasEnded() {
        return !open;
    }

    @Override
    public void onUnusable(Runnable listener) {
        onUnusable = listener;
        // Both fields are volatile: either this thread sees the end, or the thread that ends the connection sees the
        // listener.
        if (!usable) {
            listener.run();
        }
    }

    @Override
    public Optional<Status> endCause() {
        return end.endCause();
    }

    @Override
    public Scope newScope(long firstBytes) {
        return arenas.newScope(firstBytes);
    }

    @Override
    public Scope newSharedScope(long firstBytes) {
        return arenas.newSharedScope(firstBytes);
    }

    @Override
    public void use(ServiceDefinition<?> definition) {
        first.use(KryoCodec.of(definition.registered()));
    }

    @Override
    public boolean release(Object result) {
        if (SharedObject.isEmbedded(result)) {
            return false;
        }
        long ref = SharedObject.refOf(result);
        boolean isReply = arenas.isReply(result, ref);
        if (isReply) {
            unreleased.released(ref);
            control(ControlOp.RELEASE, ref);
        }
        return isReply;
    }

    @Override
    public boolean maps(Object sharedObject) {
        return PassedObjects.isReachable(arenas, sharedObject);
    }

    @Override
    public int callsUnderWay() {
        return open ? slots.busy() + async.queue().size() + drain.toBeQueued() + streams.get() : 0;
    }

    @Override
    public boolean hasHeldObjects() {
        return open && drain.hasHeldObjects();
    }

    @Override
    public ServedInterface service() {
        return first.served;
    }

    boolean isOpen() {
        return open;
    }

    // ---- called by its end

    @Override
    public ClientReactor.Polled polled() {
        return async;
    }

    @Override
    public boolean isQuiet() {
        return slots.isQuiet();
    }

    @Override
    public void rung() {
        try {
            if (open && end.isRungAlways() && slots.wakeSleepers()) {
                // The server rings once for each announcement, and this ring may be for an earlier answer. A thread
                // that
                // sleeps on needs another announcement, and a look at what came before that.
                end.listen();
                slots.wakeSleepers();
            }
            if (open && usable && ControlLayout.state(memory) != ControlLayout.STATE_OPEN) {
                usable = false;
                onUnusable.run();
                drain.begin();
            }
        } catch (IllegalStateException e) {
            // Closed by another thread in the meantime, which wakes all callers; the end no longer uses the memory.
            usable = rethrowIfOpen(e);
        }
    }

    @Override
    public void ended() {
        usable = false;
        open = false;
        // Orders marking the end before checking for waiting calls. A sender marks its call, fences, and then checks
        // for the end.
        VarHandle.fullFence();
        async.loseAll();
        slots.wakeAll();
        sent.stopAll();
        onUnusable.run();
    }

    @Override
    public void close() {
        int lost = async.sendOneWay(System.nanoTime() + LAST_SENDS_NANOS);
        // If the connection has ended by itself, its calls have ended with it.
        if (lost > 0 && open) {
            LOG.warn(
                    "channel {}: {} one-way calls are lost, because the channel was closed and no slot became free for them"
                            + " within 1 s; end other calls first, or open the channel with more slots",
                    spec.channel(),
                    lost);
        }
        end.close(spec.closedHere());
    }
}
