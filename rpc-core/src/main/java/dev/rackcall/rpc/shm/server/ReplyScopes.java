package dev.rackcall.rpc.shm.server;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** The reply scopes of a connection. A caller owns its scope until it releases any object in it. Thread-safe. */
final class ReplyScopes {
    private static final long FIRST_BYTES = 4000;

    private final Arena arena;
    private final RefSpace refs;
    /** By the Refs of their first runs. */
    private final Map<Long, ReplyScope> byRun = new HashMap<>();
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
        if (!reply.isNeeded() || unwanted.getAsBoolean()) {
            reply.discard();
            return;
        }
        reply.answered(ticket);
        try {
            byTicket.put(ticket, reply);
            byRun.put(reply.scope().firstRun(), reply);
        } catch (RuntimeException | Error e) {
            // Out of memory: the call fails, and the caller owns nothing.
            forget(reply);
            throw e;
        }
    }

    /** The client releases the result that holds the object at {@code ref}; unknown and stale Refs are ignored. */
    synchronized void release(long ref) {
        if (Ref.arenaId(ref) != arena.id()) {
            return;
        }
        ReplyScope gone;
        try {
            gone = byRun.get(arena.scopeOf(ref));
        } catch (RefException e) {
            // Released already, or never allocated.
            return;
        }
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

    /** Whether callers own none. */
    synchronized boolean areReleased() {
        return byRun.isEmpty();
    }

    private void forget(ReplyScope reply) {
        byRun.remove(reply.scope().firstRun());
        byTicket.remove(reply.ticket());
        reply.discard();
    }

    /**
     * One call's reply scope. The server does not use the scope after the call, and closes it when the caller releases
     * any object in it.
     */
    static final class ReplyScope {
        private final Scope scope;
        private boolean needed;
        private long ticket;

        ReplyScope(Scope scope) {
            this.scope = scope;
        }

        Scope scope() {
            return scope;
        }

        /** The handler returned an object of the reply arena. */
        void returned() {
            needed = true;
        }

        /** Whether the caller can release it. */
        boolean isNeeded() {
            return needed;
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

    /**
     * Follows the Refs in the server's own objects. Refs into its own arena lead to objects that it may write; other Refs
     * may lead only where its arguments' Refs may. Thread-safe.
     */
    static final class OwnSpace extends RefSpace {
        private final int id;
        private final ArenaTable own = ArenaTable.create();
        private final RefSpace others;

        OwnSpace(Arena arena, RefSpace others) {
            this.id = arena.id();
            this.others = others;
            own.add(arena);
        }

        @Override
        public Window window(long ref) {
            return Ref.arenaId(ref) == id ? own.window(ref) : others.window(ref);
        }
    }
}
