package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.ByteObserver;
import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Deadline;
import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.shm.protocol.Observers;
import dev.rackcall.rpc.spi.EndObservers;
import dev.rackcall.shm.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One call as its handler sees it; the handler may keep this object. Created when a handler or an interceptor
 * first requests it. Thread-safe.
 */
final class ServerContext implements RpcContext {
    private final MethodDescriptor method;
    private final Metadata headers;
    private final DeadlineClock clock;
    /** On the clock; 0: none. */
    private final long deadline;

    private final Peer peer;
    private final Route.Kind transport;
    private List<Runnable> onCancel = List.of();
    /** Null once the call has ended and the slot serves another. */
    private CallObjects call;

    private boolean cancelled;
    private boolean saidOverdue;

    private final EndObservers observers = new EndObservers();
    /** Trailers that no answer has carried yet. */
    private Metadata trailers = Metadata.EMPTY;

    private Metadata added = Metadata.EMPTY;
    /** Null without an observer. Not volatile: the handler's thread sets it before it hands the call over. */
    private ByteObserver bytes;

    ServerContext(
            CallObjects call,
            MethodDescriptor method,
            Metadata headers,
            DeadlineClock clock,
            long deadline,
            Peer peer,
            Route.Kind transport) {
        this.call = call;
        this.method = method;
        this.headers = headers;
        this.clock = clock;
        this.deadline = deadline;
        this.peer = peer;
        this.transport = transport;
    }

    @Override
    public MethodDescriptor method() {
        return method;
    }

    @Override
    public Metadata headers() {
        return headers;
    }

    @Override
    public Optional<Deadline> deadline() {
        return deadline == 0 ? Optional.empty() : Optional.of(clock.deadline(deadline));
    }

    @Override
    public synchronized boolean isCancelled() {
        if (!cancelled && deadline != 0 && clock.left(deadline) <= 0) {
            saidOverdue = true;
        }
        return cancelled || saidOverdue;
    }

    /**
     * Whether the handler was told that the deadline has passed, and may have given up because of that. Without the
     * lock: what the handler was told happened before it ended.
     */
    boolean hasSaidOverdue() {
        return saidOverdue;
    }

    @Override
    public void onCancel(Runnable action) {
        synchronized (this) {
            if (!cancelled) {
                if (call != null) {
                    if (onCancel.isEmpty()) {
                        onCancel = new ArrayList<>();
                    }
                    onCancel.add(action);
                }
                return;
            }
        }
        Observers.cancelled(action);
    }

    @Override
    public void onEnd(CallObserver observer) {
        observers.add(observer);
    }

    @Override
    public void onBytes(ByteObserver observer) {
        ByteObserver first = bytes;
        bytes = first == null
                ? observer
                : (copied, byPointer) -> {
                    EndObservers.tellBytes(first, copied, byPointer);
                    EndObservers.tellBytes(observer, copied, byPointer);
                };
    }

    boolean countsBytes() {
        return bytes != null;
    }

    /** Tells the observer of a part of the call, if there is one. */
    void copied(long encoded) {
        ByteObserver told = bytes;
        if (told != null) {
            EndObservers.tellBytes(told, encoded, 0);
        }
    }

    /** Observers of the call's end. */
    CallObserver observers() {
        return observers;
    }

    @Override
    public synchronized void addTrailers(Metadata more) {
        added = added.with(more);
        trailers = trailers.with(more);
    }

    /** All trailers of the call. */
    synchronized Metadata addedTrailers() {
        return added;
    }

    /** The trailers for the next answer. */
    Metadata takeTrailers() {
        // Without the lock: trailers that belong to this answer were added before it.
        return trailers == Metadata.EMPTY ? Metadata.EMPTY : takePresentTrailers();
    }

    private synchronized Metadata takePresentTrailers() {
        Metadata taken = trailers;
        trailers = Metadata.EMPTY;
        return taken;
    }

    @Override
    public Peer peer() {
        return peer;
    }

    @Override
    public Route.Kind transport() {
        return transport;
    }

    @Override
    public synchronized Scope replyScope() {
        if (call == null) {
            throw new IllegalStateException(
                    method.fullName() + ": the call has ended, so it has no reply scope any more");
        }
        return call.replyScope().scope();
    }

    @Override
    public synchronized Scope temporaryScope() {
        if (call == null) {
            throw new IllegalStateException(
                    method.fullName() + ": the call has ended, so it has no temporary scope any more");
        }
        return call.temporaryScope();
    }

    @Override
    public synchronized Scope adopt(Object argument) {
        if (call == null) {
            throw new IllegalStateException(
                    method.fullName() + ": the call has ended, so its arguments are its caller's alone");
        }
        return call.adopt(argument, method.fullName());
    }

    void cancel() {
        List<Runnable> toRun;
        synchronized (this) {
            cancelled = true;
            toRun = onCancel;
            onCancel = List.of();
        }
        if (!toRun.isEmpty()) {
            Observers.cancelledAside(toRun);
        }
    }

    synchronized void end() {
        call = null;
        onCancel = List.of();
    }
}
