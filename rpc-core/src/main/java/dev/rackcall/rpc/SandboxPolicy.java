package dev.rackcall.rpc;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** What handlers may reach from the arguments of an isolated call, besides the passed scope. Immutable. */
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

    /** Refs may lead into the channel's shared arena, whose contents any client may change at any time. */
    public SandboxPolicy withSharedArena() {
        return new SandboxPolicy(true, arenas, maxRefs, maxSnapshotBytes, protectionKeys, enforcedSeals);
    }

    /**
     * Refs may lead into an arena that this process has mapped, for example of a pool. The arena must stay mapped as
     * long as the server.
     */
    public SandboxPolicy withArena(Arena arena) {
        List<Arena> more = new ArrayList<>(arenas);
        more.add(Objects.requireNonNull(arena, "arena"));
        return new SandboxPolicy(
                sharedArena, List.copyOf(more), maxRefs, maxSnapshotBytes, protectionKeys, enforcedSeals);
    }

    /**
     * Ends a call with PERMISSION_DENIED when its handler has followed that many Refs, which bounds cycles that a
     * caller may have built.
     */
    public SandboxPolicy withMaxRefs(long count) {
        if (count < 1) {
            throw new IllegalArgumentException("a handler must be allowed to follow at least 1 Ref, not " + count);
        }
        return new SandboxPolicy(sharedArena, arenas, count, maxSnapshotBytes, protectionKeys, enforcedSeals);
    }

    /**
     * Sets the maximum size of a scope that is copied for a call; larger ones are refused with RESOURCE_EXHAUSTED.
     * Clients receive this limit when they connect. Their AUTO calls seal larger scopes, if the client can seal and the
     * server trusts its seals. Over RDMA nothing is sealed.
     */
    public SandboxPolicy withMaxSnapshot(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a snapshot must be allowed at least 1 byte, not " + bytes);
        }
        return new SandboxPolicy(sharedArena, arenas, maxRefs, bytes, protectionKeys, enforcedSeals);
    }

    /**
     * Uses the processor's protection keys to deny a handler's thread access to the memory of all other clients'
     * connections. This includes native code and {@code Unsafe}, and applies in every isolation mode. A forbidden
     * access does not happen, and the call ends with PERMISSION_DENIED. Not by default.
     *
     * <p>This covers only the thread that serves the call: neither other threads nor the elements of a stream. A
     * channel's shared arena stays accessible. If handlers of more than 13 clients run at once, further ones wait for a
     * key for at most a second, and then fail with RESOURCE_EXHAUSTED. At most about 1,000 clients can be served behind
     * keys.
     *
     * @param wish whether to continue without keys, or to refuse to start, if the processor, the kernel or the C
     *     compiler lacks what they need, or handlers run on virtual threads
     */
    public SandboxPolicy withProtectionKeys(Wish wish) {
        return new SandboxPolicy(sharedArena, arenas, maxRefs, maxSnapshotBytes, Optional.of(wish), enforcedSeals);
    }

    /**
     * Trusts the seals that {@code holder} holds, because clients cannot lift them. Suffices where {@link
     * Isolation#AUTO} is required, but not where {@link Isolation#SNAPSHOT} is. With {@link Wish#REQUIRE} no other
     * seals are accepted: a call that passes shared objects as trusted, or under its client's own seal, fails with
     * FAILED_PRECONDITION; snapshots are accepted. Not by default.
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

    /** The holder of seals that callers cannot lift, and whether there must be one. */
    public Optional<EnforcedSeals> enforcedSeals() {
        return enforcedSeals;
    }

    /** Whether handlers are to run behind protection keys. */
    public Optional<Wish> protectionKeys() {
        return protectionKeys;
    }
}
