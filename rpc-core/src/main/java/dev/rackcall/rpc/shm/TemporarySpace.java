package dev.rackcall.rpc.shm;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;

/**
 * Where the Refs of objects lead that a handler allocates for the time of its call: into its own temporary scope, and wherever its
 * arguments may lead. Not into the temporary scopes of other calls, although these lie in the same arena: a caller could make up such Refs.
 */
final class TemporarySpace extends RefSpace {
    private final Arena scratch;
    private final RefSpace arguments;
    private Scope scope;

    TemporarySpace(Arena scratch, RefSpace arguments) {
        this.scratch = scratch;
        this.arguments = arguments;
    }

    void own(Scope newScope) {
        scope = newScope;
    }

    private boolean isOwn(long ref) {
        return Ref.arenaId(ref) == scratch.id() && scope.holds(ref);
    }

    @Override
    public MemorySegment memory(long ref) {
        return isOwn(ref) ? scratch.memory() : arguments.memory(ref);
    }

    @Override
    public long offset(long ref) {
        return isOwn(ref) ? Ref.offset(ref) : arguments.offset(ref);
    }

    @Override
    public long end(long ref, MemorySegment in) {
        return isOwn(ref) ? in.byteSize() : arguments.end(ref, in);
    }
}
