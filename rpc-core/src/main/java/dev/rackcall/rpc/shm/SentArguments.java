package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import java.lang.foreign.MemorySegment;

/**
 * The client's side of isolation: the one scope that all shared arguments of a call lie in, and how it is kept from changing. One per
 * slot, made for the slot's first isolated call; used by whoever holds the slot.
 */
final class SentArguments {
    private final ClientLink link;
    private long scope = Ref.NULL;

    SentArguments(ClientLink link) {
        this.link = link;
    }

    /** Takes note of a shared argument. */
    void add(long ref, String method, String argument) {
        long holder;
        try {
            holder = link.argumentArena(ref).scopeOf(ref);
        } catch (RefException e) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("%s: argument '%s' cannot be isolated: %s", method, argument, e.getMessage())
                    .asException(e);
        }
        if (scope != Ref.NULL && scope != holder) {
            throw Status.Code.INVALID_ARGUMENT
                    .with(
                            "%s: argument '%s' lies in another scope than the ones before it; an isolated call passes one scope:"
                                    + " create all its arguments in it, or copy them there with scope.copy",
                            method, argument)
                    .asException();
        }
        scope = holder;
    }

    /** Isolates what was added, says in the slot how, and forgets it; returns the request's flags for that. */
    int isolate(Isolation isolation, MemorySegment memory, long slot) {
        if (scope == Ref.NULL) {
            return 0;
        }
        SlotLayout.requestIsolation(memory, slot, scope);
        scope = Ref.NULL;
        return SlotLayout.SNAPSHOT;
    }

    /** Forgets what was added for a call that was not sent. */
    void forget() {
        scope = Ref.NULL;
    }
}
