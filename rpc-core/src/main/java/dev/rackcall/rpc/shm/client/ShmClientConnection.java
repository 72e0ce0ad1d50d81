package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.KryoCodec;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.ControlOp;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * The client's end of a connection: begins calls, publishes requests, rings when the server does not watch, and tells everybody when it has ended. Which slot a call gets is the
 * business of {@link ClientSlots}, how its answer is waited for of {@link AnswerWaiting} and {@link AsyncCalls}. Thread-safe.
 */
public final class ShmClientConnection extends ClientConnection implements ClientEnd.Owner, ClientStream.Source {
    public final ClientEnd link;
    public final ClientMemory arenas;
    final MemorySegment memory;
    public final ClientSpec spec;
    final ClientSlots slots;
    final AnswerWaiting waiting;
    final AsyncCalls async;
    private final Queue<ControlRequest> controls = new ConcurrentLinkedQueue<>();

    /** False once the connection has ended. */
    private volatile boolean open = true;

    /** False once the connection has ended or the server drains. */
    private volatile boolean usable = true;

    /** A control request whose answer no caller waits for, and which found no free slot: the reactor sends it later. */
    private record ControlRequest(int op, long operand) {}

    public ShmClientConnection(ClientEnd link, ClientSpec spec) {
        this.link = link;
        this.arenas = link.arenas();
        this.memory = arenas.memory();
        this.spec = spec;
        this.slots = ClientSlots.of(this);
        this.waiting = new AnswerWaiting(this);
        this.async = new AsyncCalls(this, slots.all());
    }

    @Override
    public ClientCall begin(
            MethodDescriptor method, long deadline, Metadata headers, Isolation isolation, CallObserver observer) {
        ShmClientCall call = slots.claim(deadline);
        call.begin(method, deadline, headers, isolation, observer);
        return call;
    }

    /** For whoever looks at the memory without a slot that keeps it mapped: false, if that is because the connection has ended. */
    boolean rethrowIfOpen(IllegalStateException thrown) {
        if (open) {
            throw thrown;
        }
        return false;
    }

    /** Makes the request half of {@code slot} visible to the server and wakes it if it does not watch. */
    void publish(long slot, long word) {
        SlotLayout.publishRequest(memory, slot, word);
        // Between our request and our look at `watched`; the server fences between clearing `watched` and its last look
        // at the slot.
        VarHandle.fullFence();
        if (!ControlLayout.isWatched(memory)) {
            deliver();
        }
    }

    /** A server that does not poll is woken. One with memory of its own never polls this memory: what was published is carried over. */
    private void deliver() {
        if (link.isMirrored()) {
            link.push();
        } else {
            link.ring();
        }
    }

    /** Tells the server that nobody waits for the call with that ticket any more. */
    void cancel(long ticket) {
        control(ControlOp.CANCEL, ticket);
    }

    /**
     * Sends a control request that no caller waits for, now or as soon as there is room. A cancellation or a release that got lost would keep a handler or
     * memory at the server until the connection ends, which gives up all of them.
     */
    public void control(int op, long operand) {
        // A cancellation may concern just the calls that hold all slots, so it has a second way.
        if (!trySendControl(op, operand) && (op != ControlOp.CANCEL || !link.ringCancelled(operand))) {
            controls.add(new ControlRequest(op, operand));
            link.reactor().wakeIfIdle();
        }
    }

    private boolean trySendControl(int op, long operand) {
        try {
            ShmClientCall call = slots.tryClaim();
            if (call == null) {
                return false;
            }
            call.sendControl(op, operand);
        } catch (RpcException e) {
            // The connection has ended, and with it what this was about.
            controls.clear();
        }
        return true;
    }

    @Override
    public void flushControls() {
        ControlRequest next = controls.peek();
        while (next != null && trySendControl(next.op, next.operand)) {
            controls.poll();
            next = controls.peek();
        }
    }

    @Override
    public void pull(MethodDescriptor method, long id, long deadline, BiConsumer<PayloadReader, ClientCall> taker) {
        ShmClientCall call = slots.claim(deadline);
        try {
            taker.accept(call.callControl(method, ControlOp.STREAM_PULL, id, deadline), call);
        } catch (PayloadException e) {
            throw call.rejected(e);
        } finally {
            call.close();
        }
    }

    @Override
    public void closeStream(long id) {
        control(ControlOp.STREAM_CLOSE, id);
    }

    /**
     * Has the server join the session in which a holder has this side's seals.
     *
     * @throws dev.rackcall.rpc.RpcException if it cannot
     */
    void enforceSeals(long sessionHigh, long sessionLow, Duration bound) {
        ask(ControlOp.JOIN_SEALS, sessionHigh, sessionLow, bound, _ -> true);
    }

    /**
     * Sends a control request of two operands and waits for its answer.
     *
     * @throws dev.rackcall.rpc.RpcException what it ended with
     */
    public <T> T ask(int op, long first, long second, Duration bound, Function<PayloadReader, T> reader) {
        long deadline = System.nanoTime() + bound.toNanos();
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
    public boolean isUsable() {
        return usable;
    }

    @Override
    public Optional<Status> endCause() {
        return link.endCause();
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
        link.objects().use(KryoCodec.of(definition.registered()));
    }

    @Override
    public boolean release(Object result) {
        long ref = SharedObject.refOf(result);
        boolean isReply = arenas.isReply(result, ref);
        if (isReply) {
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
        return open ? slots.busy() : 0;
    }

    @Override
    public String serviceName() {
        return link.welcome().serviceName();
    }

    @Override
    public long fingerprint() {
        return link.welcome().fingerprint();
    }

    @Override
    public String description() {
        return link.welcome().description();
    }

    boolean isOpen() {
        return open;
    }

    // ---- what its end and the reactor ask of it

    @Override
    public int fd() {
        return link.bellFd();
    }

    @Override
    public void readable() {
        link.readable();
    }

    @Override
    public boolean isMirrored() {
        return link.isMirrored();
    }

    @Override
    public WaitStrategy looking(WaitStrategy strategy) {
        return link.looking(strategy);
    }

    @Override
    public boolean isAwaited() {
        return !controls.isEmpty() || async.isAwaited();
    }

    @Override
    public int poll() {
        return async.poll();
    }

    @Override
    public int helped() {
        return async.helped();
    }

    @Override
    public long expire(long now, long bound) {
        return async.expire(now, bound);
    }

    @Override
    public void announceSleep(boolean asleep) {
        link.announceSleep(asleep);
    }

    @Override
    public boolean isQuiet() {
        return slots.isQuiet();
    }

    @Override
    public void rung() {
        try {
            if (open && link.isRungAlways() && ControlLayout.hasSleepers(memory)) {
                slots.wakeAll();
            }
            if (open && ControlLayout.state(memory) != ControlLayout.STATE_OPEN) {
                usable = false;
            }
        } catch (IllegalStateException e) {
            // Closed by another thread meanwhile, which wakes everybody; the link no longer uses the memory.
            usable = rethrowIfOpen(e);
        }
    }

    @Override
    public void ended() {
        usable = false;
        open = false;
        // Between saying that it is over and looking for calls that wait; a sender marks its call, fences, and then
        // looks
        // whether it is over.
        VarHandle.fullFence();
        async.loseAll();
        slots.wakeAll();
    }

    @Override
    public void close() {
        link.close(Status.Code.CANCELLED.with("channel %s was closed here", spec.channel()));
    }
}
