package dev.rackcall.rpc;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What a server's handlers may reach from the arguments of a call that is not {@link Isolation#TRUSTED}, besides the scope that was passed. Immutable.
 */
public final class SandboxPolicy {
    /** The passed scope and nothing else, any number of Refs, snapshots of up to 64 MiB. */
    public static final SandboxPolicy STRICT =
            new SandboxPolicy(false, List.of(), Long.MAX_VALUE, 64L << 20, Optional.empty(), Optional.empty());

    private final boolean sharedArena;
    private final List<Arena> arenas;
    private final long maxRefs;
    private final long maxSnapshotBytes;

    private final Optional<Wish> protectionKeys;
    private final Optional<EnforcedSeals> enforcedSeals;

    private SandboxPolicy(
            boolean sharedArena,
            List<Arena> arenas,
            long maxRefs,
            long maxSnapshotBytes,
            Optional<Wish> protectionKeys,
            Optional<EnforcedSeals> enforcedSeals) {
        this.sharedArena = sharedArena;
        this.arenas = arenas;
        this.maxRefs = maxRefs;
        this.maxSnapshotBytes = maxSnapshotBytes;
        this.protectionKeys = protectionKeys;
        this.enforcedSeals = enforcedSeals;
    }

    /** Refs may lead into the arena that all clients of the channel share; what lies there, any of them may change at any time. */
    public SandboxPolicy withSharedArena() {
        return new SandboxPolicy(true, arenas, maxRefs, maxSnapshotBytes, protectionKeys, enforcedSeals);
    }

    /** Refs may lead into an arena that this process has mapped, of a pool for example. It stays mapped as long as the server. */
    public SandboxPolicy withArena(Arena arena) {
        List<Arena> more = new ArrayList<>(arenas);
        more.add(Objects.requireNonNull(arena, "arena"));
        return new SandboxPolicy(
                sharedArena, List.copyOf(more), maxRefs, maxSnapshotBytes, protectionKeys, enforcedSeals);
    }

    /** A call ends with PERMISSION_DENIED when its handler has followed that many Refs: a bound on cycles that a caller may have built. */
    public SandboxPolicy withMaxRefs(long count) {
        if (count < 1) {
            throw new IllegalArgumentException("a handler must be allowed to follow at least 1 Ref, not " + count);
        }
        return new SandboxPolicy(sharedArena, arenas, count, maxSnapshotBytes, protectionKeys, enforcedSeals);
    }

    /**
     * The largest scope that is copied for one call; larger ones are refused with RESOURCE_EXHAUSTED. Clients are told when they connect, so AUTO seals what is larger
     * (where the client can seal at all, and the server believes seals; over RDMA nothing is sealed).
     */
    public SandboxPolicy withMaxSnapshot(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a snapshot must be allowed at least 1 byte, not " + bytes);
        }
        return new SandboxPolicy(sharedArena, arenas, maxRefs, bytes, protectionKeys, enforcedSeals);
    }

    /**
     * While a handler runs, the memory of all other clients' connections is closed to its thread by protection keys of the processor, also to native code
     * and {@code Unsafe} in it, whatever the call's isolation. What it reaches for there is not done, and the call ends with PERMISSION_DENIED. Not by
     * default.
     *
     * <p>Only on the thread that serves the call: not what the handler leaves to other threads, nor the elements of a stream. A channel's shared arena
     * stays open. Keys are few: more than 13 clients' handlers at once wait for each other, at most a second each, and fail with
     * RESOURCE_EXHAUSTED then. At most 1,000 clients or so can be served behind keys.
     *
     * @param wish what to do where the processor, the kernel or the C compiler that the guard needs is missing, or handlers run on virtual threads: go on
     *     without, or refuse to start
     */
    public SandboxPolicy withProtectionKeys(Wish wish) {
        return new SandboxPolicy(sharedArena, arenas, maxRefs, maxSnapshotBytes, Optional.of(wish), enforcedSeals);
    }

    /**
     * Clients whose seals that holder has, so that they cannot lift them, are believed when they say that a scope is sealed, also where {@link Isolation#AUTO} is
     * demanded; where {@link Isolation#SNAPSHOT} is, they are not. With {@link Wish#REQUIRE} no other seal will do: a call that passes shared objects
     * trusted, or under a seal that its client holds itself, fails with FAILED_PRECONDITION; snapshots are welcome. Not by default.
     *
     * @param holder the socket of a {@link dev.rackcall.sandbox.SealHolder} that this process trusts, or has started
     */
    public SandboxPolicy withEnforcedSeals(Path holder, Wish wish) {
        return new SandboxPolicy(
                sharedArena,
                arenas,
                maxRefs,
                maxSnapshotBytes,
                protectionKeys,
                Optional.of(new EnforcedSeals(holder, wish)));
    }

    public boolean sharedArena() {
        return sharedArena;
    }

    public List<Arena> arenas() {
        return arenas;
    }

    public long maxRefs() {
        return maxRefs;
    }

    public long maxSnapshotBytes() {
        return maxSnapshotBytes;
    }

    /** Who holds seals that callers cannot lift, and whether there must be one. */
    public Optional<EnforcedSeals> enforcedSeals() {
        return enforcedSeals;
    }

    /** Whether handlers are to run behind protection keys. */
    public Optional<Wish> protectionKeys() {
        return protectionKeys;
    }
}
