package dev.rackcall.rpc.shm.server;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefSpace;

/**
 * Follows the Refs in the server's own objects. Refs into its own arena lead to objects that it may write; other Refs
 * may lead only where its arguments' Refs may. Thread-safe.
 */
final class OwnSpace extends RefSpace {
    private final int id;
    private final ArenaTable own = ArenaTable.create();
    private final RefSpace others;

    OwnSpace(Arena arena, RefSpace others) {
        this.id = arena.id();
        this.others = others;
        own.add(arena);
    }

    @Override
    public Window window(long ref) {
        return Ref.arenaId(ref) == id ? own.window(ref) : others.window(ref);
    }
}
