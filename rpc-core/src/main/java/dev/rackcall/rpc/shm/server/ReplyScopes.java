package dev.rackcall.rpc.shm.server;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.RefSpace;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** The reply scopes of a connection: those that its caller owns, until it releases what was returned from them. Thread-safe. */
final class ReplyScopes {
    private static final long FIRST_BYTES = 4000;

    private final Arena arena;
    private final RefSpace refs;
    /** By the Refs that were returned from them. */
    private final Map<Long, ReplyScope> byRoot = new HashMap<>();
    /** The same by the tickets of their calls. */
    private final Map<Long, ReplyScope> byTicket = new HashMap<>();

    /**
     * @param arena where they are allocated
     * @param refs where Refs in them are followed
     */
    ReplyScopes(Arena arena, RefSpace refs) {
        this.arena = arena;
        this.refs = refs;
    }

    /** One for a call's handler, until it is handed over or discarded. */
    ReplyScope open() {
        return new ReplyScope(arena.newScope(FIRST_BYTES, refs));
    }

    /** The caller of {@code ticket} owns the scope now. A scope from which nothing was returned, or that nobody wants, is closed. */
    synchronized void handOver(ReplyScope reply, long ticket, BooleanSupplier unwanted) {
        // Whoever cancels says so before he looks here for what he does not want.
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
            // No memory: the caller is told so, and owns nothing.
            forget(reply);
            throw e;
        }
    }

    /** The client gives back the object at {@code ref}; unknown ones are ignored. */
    synchronized void release(long ref) {
        ReplyScope gone = byRoot.get(ref);
        if (gone != null) {
            forget(gone);
        }
    }

    /** The client says that it never saw the answer to {@code ticket}. */
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
}
