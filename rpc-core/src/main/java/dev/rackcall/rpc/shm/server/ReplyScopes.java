package dev.rackcall.rpc.shm.server;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** The reply scopes of a connection. A caller owns its scope until it releases an object in it. Thread-safe. */
final class ReplyScopes {
    private static final long FIRST_BYTES = 4000;

    private final Arena arena;
    private final RefSpace refs;
    /** By the Refs that were returned from them. */
    private final Map<Long, ReplyScope> byRoot = new HashMap<>();
    /** By the tickets of their calls. */
    private final Map<Long, ReplyScope> byTicket = new HashMap<>();

    /**
     * @param arena where they are allocated
     * @param refs resolves the Refs in them
     */
    ReplyScopes(Arena arena, RefSpace refs) {
        this.arena = arena;
        this.refs = refs;
    }

    /** A scope for a call's handler, until it is handed over or discarded. */
    ReplyScope open() {
        return new ReplyScope(arena.newScope(FIRST_BYTES, refs));
    }

    /** Makes the caller of {@code ticket} the owner. An unwanted scope, or one without returned objects, is closed. */
    synchronized void handOver(ReplyScope reply, long ticket, BooleanSupplier unwanted) {
        // A cancellation sets {@code unwanted} before it searches for the scope here.
        if (reply.roots().isEmpty() || unwanted.getAsBoolean()) {
            reply.discard();
            return;
        }
        reply.answered(ticket);
        try {
            byTicket.put(ticket, reply);
            for (long root : reply.roots()) {
                byRoot.put(root, reply);
            }
        } catch (RuntimeException | Error e) {
            // Out of memory: the call fails, and the caller owns nothing.
            forget(reply);
            throw e;
        }
    }

    /** The client releases the object at {@code ref}; unknown Refs are ignored. */
    synchronized void release(long ref) {
        ReplyScope gone = byRoot.get(ref);
        if (gone != null) {
            forget(gone);
        }
    }

    /** The client reports that it never saw the answer to {@code ticket}. */
    synchronized void discard(long ticket) {
        ReplyScope gone = byTicket.get(ticket);
        if (gone != null) {
            forget(gone);
        }
    }

    private void forget(ReplyScope reply) {
        reply.roots().forEach(byRoot::remove);
        byTicket.remove(reply.ticket());
        reply.discard();
    }

    /**
     * One call's reply scope, and the objects that its handler returned from it. The server does not use the scope
     * after the call, and closes it when the caller releases any of those objects.
     */
    static final class ReplyScope {
        private final Scope scope;
        private final List<Long> roots = new ArrayList<>(1);
        private long ticket;

        ReplyScope(Scope scope) {
            this.scope = scope;
        }

        Scope scope() {
            return scope;
        }

        /** The handler returned the object at {@code ref}, which lies in this scope. */
        void returned(long ref) {
            roots.add(ref);
        }

        List<Long> roots() {
            return roots;
        }

        /** The call that the scope belongs to has been answered. */
        void answered(long callTicket) {
            ticket = callTicket;
        }

        long ticket() {
            return ticket;
        }

        /** Closes the scope. Any thread: the handler no longer uses it. */
        void discard() {
            scope.closeForOwner();
        }
    }
}
