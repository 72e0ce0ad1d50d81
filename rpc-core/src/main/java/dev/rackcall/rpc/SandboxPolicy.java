package dev.rackcall.rpc;

import dev.rackcall.shm.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * What a server's handlers may reach from the arguments of a call that is not {@link Isolation#TRUSTED}, besides the scope that was passed. Immutable.
 */
public final class SandboxPolicy {
    /** The passed scope and nothing else, any number of Refs, snapshots of up to 64 MiB. */
    public static final SandboxPolicy STRICT = new SandboxPolicy(false, List.of(), Long.MAX_VALUE, 64L << 20);

    private final boolean sharedArena;
    private final List<Arena> arenas;
    private final long maxRefs;
    private final long maxSnapshotBytes;

    private SandboxPolicy(boolean sharedArena, List<Arena> arenas, long maxRefs, long maxSnapshotBytes) {
        this.sharedArena = sharedArena;
        this.arenas = arenas;
        this.maxRefs = maxRefs;
        this.maxSnapshotBytes = maxSnapshotBytes;
    }

    /** Refs may lead into the arena that all clients of the channel share; what lies there, any of them may change at any time. */
    public SandboxPolicy withSharedArena() {
        return new SandboxPolicy(true, arenas, maxRefs, maxSnapshotBytes);
    }

    /** Refs may lead into an arena that this process has mapped, of a pool for example. It stays mapped as long as the server. */
    public SandboxPolicy withArena(Arena arena) {
        List<Arena> more = new ArrayList<>(arenas);
        more.add(Objects.requireNonNull(arena, "arena"));
        return new SandboxPolicy(sharedArena, List.copyOf(more), maxRefs, maxSnapshotBytes);
    }

    /** A call ends with PERMISSION_DENIED when its handler has followed that many Refs: a bound on cycles that a caller may have built. */
    public SandboxPolicy withMaxRefs(long count) {
        if (count < 1) {
            throw new IllegalArgumentException("a handler must be allowed to follow at least 1 Ref, not " + count);
        }
        return new SandboxPolicy(sharedArena, arenas, count, maxSnapshotBytes);
    }

    /** The largest scope that is copied for one call; larger ones are refused with RESOURCE_EXHAUSTED. */
    public SandboxPolicy withMaxSnapshot(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a snapshot must be allowed at least 1 byte, not " + bytes);
        }
        return new SandboxPolicy(sharedArena, arenas, maxRefs, bytes);
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
}
