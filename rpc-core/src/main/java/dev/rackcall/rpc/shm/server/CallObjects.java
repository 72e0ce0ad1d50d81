package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedType;
import java.util.function.BooleanSupplier;

/**
 * The shared objects of a slot's call: arguments that came as Refs, results that leave as Refs, and the scopes of its
 * handler. Most calls have none. Confined to the thread that serves the call.
 */
final class CallObjects {
    private final ServerEnd end;
    private final ServiceBinding service;
    private final PayloadBudget payloads;
    private final ServerRequest request;
    private final ServerResponse response;

    /** The reply scope; null until the handler requests it. */
    private ReplyScopes.ReplyScope reply;
    /** Null until the slot's first call that needs it. */
    private CallMemory memory;
    /** Whether a stream still reads under the seal, and will mark it done. */
    private boolean sealIsStreams;

    CallObjects(
            ServerEnd end,
            ServiceBinding service,
            PayloadBudget payloads,
            ServerRequest request,
            ServerResponse response) {
        this.end = end;
        this.service = service;
        this.payloads = payloads;
        this.request = request;
        this.response = response;
    }

    /** A flyweight over an argument, whose Ref the client wrote. */
    <T> T argument(Class<T> type, long ref, String argument) {
        try {
            return SharedType.of(type).attach(space(argument), ref);
        } catch (RefException e) {
            String where = request.name() + ": argument '" + argument + "'";
            throw (request.isIsolated()
                            ? Failure.breach(where, e)
                            : Status.Code.INVALID_ARGUMENT.with("%s: %s", where, e.getMessage()))
                    .asException(e);
        }
    }

    private RefSpace space(String argument) {
        end.hasPassed();
        if (request.isIsolated()) {
            return isolated();
        }
        CallMemory.requireTrusted(request.service().demanded(request.methodIndex()), request.method(), argument);
        return trusted();
    }

    private RefSpace trusted() {
        if (!request.namesScope()) {
            return end.refs();
        }
        return request.method().writes()
                ? memory().written(request.isolation())
                : end.fetched(request.systemDeadline());
    }

    private RefSpace isolated() {
        return memory().arguments(
                        request.flags(),
                        request.isolation(),
                        request.service().demanded(request.methodIndex()),
                        request.method());
    }

    private CallMemory memory() {
        if (memory == null) {
            memory = new CallMemory(end, service, payloads);
        }
        return memory;
    }

    /** A scope for objects that the handler needs until the call ends. */
    Scope temporaryScope() {
        return memory().temporaryScope(request.isIsolated() ? isolated() : trusted());
    }

    /** A scope for objects that the handler returns. */
    ReplyScopes.ReplyScope replyScope() {
        if (reply == null) {
            reply = end.replies().open();
        }
        return reply;
    }

    /** The Ref under which the client finds a returned object. */
    long share(Object sharedObject) {
        if (memory != null && memory.isArgument(sharedObject)) {
            return SharedObject.refOf(sharedObject);
        }
        long shared = end.objects().share(sharedObject, request.name());
        if (end.isMirrored() && !end.isOwn(shared)) {
            response.namesHeld();
        }
        if (reply != null && Ref.arenaId(shared) == end.replyArena().id()) {
            reply.returned();
        }
        return shared;
    }

    /** Encodes what the handler has stored into a copy of its arguments, before the result. */
    void returnStores() {
        if (memory != null) {
            memory.writtenCopy().ifPresent(response::stores);
        }
    }

    // ---- the end

    /** Whether the arguments may have changed under the handler, because the holder of their seal has ended. */
    boolean haveLostTheirSeal() {
        return memory != null && memory.hasLostItsSeal();
    }

    /**
     * Gives the call's memory to a stream, whose elements may be computed from the arguments while the slot serves its
     * next call.
     *
     * @return the memory, or null if the call has none
     */
    CallMemory giveAway() {
        sealIsStreams = request.isSealed() && memory != null && memory.has(request.isolation());
        CallMemory given = memory;
        memory = null;
        return given;
    }

    /** Makes the scope of an argument the server's own. */
    Scope adopt(Object argument, String method) {
        if (request.isIsolated()) {
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "%s: the argument of an isolated call cannot be taken over, since others could still write it; keep a copy, or"
                                    + " let the method take it with Isolation.TRUSTED",
                            method)
                    .asException();
        }
        return end.objects().adopt(argument, method);
    }

    /** Whether the handler has requested a reply scope. */
    boolean hasReply() {
        return reply != null;
    }

    /**
     * The call has succeeded: the client owns the reply scope, unless {@code unwanted} says that the call was
     * cancelled.
     */
    void handOver(BooleanSupplier unwanted) {
        ReplyScopes.ReplyScope handed = reply;
        reply = null;
        end.replies().handOver(handed, request.ticket(), unwanted);
    }

    /** The call has failed: the reply scope is closed. */
    void discardReply() {
        ReplyScopes.ReplyScope discarded = reply;
        if (discarded != null) {
            reply = null;
            discarded.discard();
        }
    }

    /**
     * The call no longer reads its arguments. Called before the response, after which the client may release their
     * seal. Throws nothing: the call must be answered exactly once.
     */
    void leaveArguments() {
        try {
            tryLeaveArguments();
        } catch (RuntimeException | Error e) {
            PollerLog.failedEnding(end.peer(), service.channel(), e);
        }
    }

    private void tryLeaveArguments() {
        boolean unread = request.isSealed() && !sealIsStreams && (memory == null || !memory.has(request.isolation()));
        sealIsStreams = false;
        if (memory != null) {
            memory.leave();
        }
        if (unread) {
            end.giveUp(request.isolation());
        }
    }
}
