package dev.rackcall.rpc;

/**
 * How the shared objects that a call passes are kept from changing under the handler, and its Refs from leading elsewhere. Ordinary values need none of
 * this: what a handler sees of them is a copy already.
 *
 * <p>All shared arguments of a call in any mode but {@link #TRUSTED} lie in one {@link dev.rackcall.shm.Scope}, and the handler's Refs lead into that
 * scope only, and into what the server's {@link SandboxPolicy} adds; anything else ends the call with PERMISSION_DENIED.
 */
public enum Isolation {
    /** What the method declares, else what its service declares, else {@link #TRUSTED}. */
    DEFAULT,

    /** The handler reads the caller's memory, in which the caller may write meanwhile. For processes of one owner. Costs nothing. */
    TRUSTED,

    /** The caller cannot write the scope while the call has it. Costs little for a scope that did not change since its last call, else more than a copy. */
    SEALED,

    /** The handler reads its server's own copy of the scope. Needs no trust in the caller at all; costs a copy. */
    SNAPSHOT,

    /**
     * {@link #SEALED} for scopes that are found to stay as they are between calls, for large ones whose calls were found to take less time so, and for very large ones;
     * {@link #SNAPSHOT} for all others.
     */
    AUTO;

    /** This, or {@code otherwise} if this leaves it open. */
    public Isolation or(Isolation otherwise) {
        return this == DEFAULT ? otherwise : this;
    }

    /** Whether arguments are kept from changing. */
    public boolean isSafe() {
        return this != TRUSTED && this != DEFAULT;
    }
}
