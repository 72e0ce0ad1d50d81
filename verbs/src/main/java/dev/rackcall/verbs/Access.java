package dev.rackcall.verbs;

import java.util.Set;

/** A right to a memory region or through a queue pair (enum ibv_access_flags). */
public enum Access {
    /** The local device may write. Receives, targets of READs and results of atomics need it. */
    LOCAL_WRITE(1),
    /** Peers may WRITE; needs {@link #LOCAL_WRITE}. */
    REMOTE_WRITE(1 << 1),
    /** Peers may READ. */
    REMOTE_READ(1 << 2),
    /** Peers may do CAS and FETCH_ADD; needs {@link #LOCAL_WRITE}. */
    REMOTE_ATOMIC(1 << 3);

    private final int bit;

    Access(int bit) {
        this.bit = bit;
    }

    /** This right in libibverbs' number. */
    public int bit() {
        return bit;
    }

    /** All these rights in libibverbs' number. */
    public static int bits(Set<Access> rights) {
        int bits = 0;
        for (Access right : rights) {
            bits |= right.bit;
        }
        return bits;
    }
}
