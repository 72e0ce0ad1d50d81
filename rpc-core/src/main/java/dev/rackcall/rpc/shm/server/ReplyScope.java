package dev.rackcall.rpc.shm.server;

import dev.rackcall.shm.Scope;
import java.util.ArrayList;
import java.util.List;

/**
 * The scope in which one call's handler allocates what it returns by pointer, and the objects that it returned from it. After the call
 * nobody at the server uses the scope; it is closed when the caller releases any of those objects.
 */
final class ReplyScope {
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

    /** Closes the scope: on whatever thread, since the call has ended and its handler no longer uses it. */
    void discard() {
        scope.closeForOwner();
    }
}
