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
 * The shared objects of the call that a slot serves: arguments that came as Refs, results that leave as Refs, and the scopes that its handler allocates in. Most calls have none.
 * Used by the thread that serves the call.
 */
final class CallObjects {
    private final ServerEnd link;
    private final ServiceBinding service;
    private final PayloadBudget payloads;
    private final ServerRequest request;
    private final ServerResponse response;

    /** Where the handler allocates what it returns; null if it has not asked for it. */
    private ReplyScope reply;
    /** Null until the slot's first call that needs one. */
    private CallMemory memory;
    /** A stream reads on under the seal, and marks it done. */
    private boolean sealIsStreams;

    CallObjects(
            ServerEnd link,
            ServiceBinding service,
            PayloadBudget payloads,
            ServerRequest request,
            ServerResponse response) {
        this.link = link;
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
        link.hasPassed();
        if (request.isIsolated()) {
            return isolated();
        }
        CallMemory.requireTrusted(service.demanded(request.methodIndex()), request.method(), argument);
        return trusted();
    }

    private RefSpace trusted() {
        return request.isFetched() ? link.fetched(request.deadline()) : link.refs();
    }

    private RefSpace isolated() {
        return memory().arguments(
                        request.flags(),
                        request.isolation(),
                        service.demanded(request.methodIndex()),
                        request.method());
    }

    private CallMemory memory() {
        if (memory == null) {
            memory = new CallMemory(link, service, payloads);
        }
        return memory;
    }

    /** Where the handler allocates what it needs until the call has ended. */
    Scope temporaryScope() {
        return memory().temporaryScope(request.isIsolated() ? isolated() : trusted());
    }

    /** Where the handler allocates what it returns by pointer. */
    ReplyScope replyScope() {
        if (reply == null) {
            reply = link.replies().open();
        }
        return reply;
    }

    /** The Ref under which the client finds what the handler returns. */
    long share(Object sharedObject) {
        if (memory != null && memory.isArgument(sharedObject)) {
            return SharedObject.refOf(sharedObject);
        }
        long shared = link.objects().share(sharedObject, request.name());
        if (link.isMirrored() && !link.isOwn(shared)) {
            response.namesHeld();
        }
        if (reply != null && Ref.arenaId(shared) == link.replyArena().id()) {
            reply.returned(shared);
        }
        return shared;
    }

    // ---- the end

    /** Whether the arguments may have changed under the handler, because whoever held their seal has ended. */
    boolean haveLostTheirSeal() {
        return memory != null && memory.hasLostItsSeal();
    }

    /**
     * Gives away what the call has, to a stream whose elements may still be computed from the arguments when the slot serves its next call.
     *
     * @return null if it has nothing
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
        return link.objects().adopt(argument, method);
    }

    /** Whether the handler has asked for a scope to allocate its result in. */
    boolean hasReply() {
        return reply != null;
    }

    /** The call has succeeded: what the handler returned is the client's, unless {@code unwanted} says that it does not wait for it. */
    void handOver(BooleanSupplier unwanted) {
        ReplyScope handed = reply;
        reply = null;
        link.replies().handOver(handed, request.ticket(), unwanted);
    }

    /** The call has not succeeded: nobody will see what the handler allocated for its result. */
    void discardReply() {
        ReplyScope discarded = reply;
        if (discarded != null) {
            reply = null;
            discarded.discard();
        }
    }

    /**
     * The call reads its arguments no more. To be called before the response: whoever sees that may release their seal. Throws nothing: the call has ended, and must be
     * answered, once.
     */
    void leaveArguments() {
        try {
            tryLeaveArguments();
        } catch (RuntimeException | Error e) {
            PollerLog.failedEnding(link.peer(), service.channel(), e);
        }
    }

    private void tryLeaveArguments() {
        boolean unread = request.isSealed() && !sealIsStreams && (memory == null || !memory.has(request.isolation()));
        sealIsStreams = false;
        if (memory != null) {
            memory.leave();
        }
        if (unread) {
            link.giveUp(request.isolation());
        }
    }
}
