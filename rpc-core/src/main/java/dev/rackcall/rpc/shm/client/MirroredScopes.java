package dev.rackcall.rpc.shm.client;

import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;

/**
 * A client's shared scopes where the server has memory of its own: own scopes are carried over when they are passed,
 * others' are fetched. Thread-safe.
 */
public interface MirroredScopes {
    /** Opens a scope that the channel's other clients may read. */
    Scope open(long firstBytes);

    /**
     * Carries the scope of an object in the request arena to the server, before the object is passed.
     *
     * @param mayStay whether the server may fetch what it needs of a large scope
     * @return false if the scope stays here
     */
    boolean carryOver(long ref, boolean mayStay);

    /** Carries an open scope to the server, before an object in it is passed over another connection. */
    void publish(long ref);

    /** Whether an object lies in a scope that others may read. */
    boolean isOpen(long ref);

    /** Where Refs are followed with what was fetched before, unless it is known to be stale. */
    RefSpace standing();

    /** Where Refs of an answer that has just come are followed. */
    RefSpace view();

    boolean isSpaceOf(Object sharedObject);

    /** Whether it is memory in which pages of others are held. */
    boolean isIn(MemorySegment.Scope mapped);

    void close();
}
