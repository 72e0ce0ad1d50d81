package dev.rackcall.shm;

import java.lang.foreign.MemorySegment;

/**
 * Decides where a Ref leads and whether it may be followed. {@link ArenaTable} is the ordinary one; a sandbox or a snapshot is
 * another. Whatever bits a Ref holds, the answer is either a place inside mapped memory or a {@link RefException}: never a
 * wild read.
 */
public abstract class RefSpace {
    /**
     * The memory that {@link #offset} indexes for this Ref.
     *
     * @throws RefException if no arena of that id is mapped here, if the offset lies outside its committed part, or if the pages
     *     belong to a freed scope or to a later generation than the Ref's
     */
    public abstract MemorySegment memory(long ref);

    /** Byte offset of the object inside {@link #memory}. */
    public abstract long offset(long ref);

    /**
     * Where in {@link #memory} the part ends that an object at this Ref must lie in. All of the memory unless a space is narrower than the arena.
     */
    public long end(long ref, MemorySegment memory) {
        return memory.byteSize();
    }
}
