package dev.rackcall.rpc;

/**
 * How a call's shared objects are kept from changing while the handler runs, and their Refs from leading to other
 * memory. Ordinary values need no isolation: the handler sees a copy.
 *
 * <p>In every mode but {@link #TRUSTED}, all shared arguments of a call lie in one {@link dev.rackcall.shm.Scope}. The
 * handler may follow Refs into that scope, and where the server's {@link SandboxPolicy} allows; any other Ref ends the
 * call with PERMISSION_DENIED.
 */
public enum Isolation {
    /** What the method declares, else what its service declares, else {@link #TRUSTED}. */
    DEFAULT,

    /**
     * The handler reads the caller's memory, which the caller may change during the call. For processes of one owner.
     * Free of cost.
     */
    TRUSTED,

    /**
     * The caller cannot write the scope during the call. Cheap for a scope that did not change since its last call;
     * otherwise more expensive than a copy.
     */
    SEALED,

    /** The handler reads its server's own copy of the scope. Needs no trust in the caller; costs a copy. */
    SNAPSHOT,

    /**
     * {@link #SEALED} for scopes that do not change between calls, for large ones whose sealed calls were measured to
     * be faster, and for very large ones; {@link #SNAPSHOT} for all others.
     */
    AUTO;

    /** This mode, or {@code otherwise} for {@link #DEFAULT}. */
    public Isolation or(Isolation otherwise) {
        return this == DEFAULT ? otherwise : this;
    }

    /** Whether arguments are kept from changing. */
    public boolean isSafe() {
        return this != TRUSTED && this != DEFAULT;
    }
}
