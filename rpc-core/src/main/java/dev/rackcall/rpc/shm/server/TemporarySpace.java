package dev.rackcall.rpc.shm.server;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;

/**
 * Where the Refs of objects lead that a handler allocates for the time of its call: into its own temporary scope, and wherever its
 * arguments may lead. Not into the temporary scopes of other calls, although these lie in the same arena: a caller could make up such Refs.
 */
final class TemporarySpace extends RefSpace {
    private final Arena scratch;
    private final ArenaTable everything = ArenaTable.create();
    private final RefSpace arguments;
    private Scope scope;

    TemporarySpace(Arena scratch, RefSpace arguments) {
        this.scratch = scratch;
        this.arguments = arguments;
        everything.add(scratch);
    }

    void own(Scope newScope) {
        scope = newScope;
    }

    @Override
    public Window window(long ref) {
        return Ref.arenaId(ref) == scratch.id() && scope.holds(ref) ? everything.window(ref) : arguments.window(ref);
    }
}
