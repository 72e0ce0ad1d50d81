package dev.rackcall.rpc.shm.client;

import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;

/**
 * The shared scopes of a client whose server has memory of its own. The client's scopes are carried over when they are
 * passed; scopes of others are fetched. Thread-safe.
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

    /** Whether an object lies in a scope that other clients may read. */
    boolean isOpen(long ref);

    /** Whether a scope of {@link #open} was not closed. One that is being reset counts. */
    boolean hasOpen();

    /** Resolves Refs with the pages fetched before, except those known to be stale. */
    RefSpace standing();

    /** Resolves the Refs of an answer that has just arrived. */
    RefSpace view();

    boolean isSpaceOf(Object sharedObject);

    /** Whether {@code mapped} is memory that holds pages of others. */
    boolean isIn(MemorySegment.Scope mapped);

    void close();
}
