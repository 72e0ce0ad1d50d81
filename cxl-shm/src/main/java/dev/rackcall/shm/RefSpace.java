package dev.rackcall.shm;

import java.lang.foreign.MemorySegment;

/**
 * Decides where a Ref leads and whether it may be followed. {@link ArenaTable} is the ordinary one; a sandbox or a snapshot is
 * another. Whatever bits a Ref holds, the answer is either a place inside mapped memory or a {@link RefException}: never a
 * wild read.
 */
public abstract class RefSpace {
    /**
     * The memory that a Ref leads into.
     *
     * @throws RefException if no arena of that id is mapped here, if the offset lies outside its committed part, or if the pages
     *     belong to a freed scope or to a later generation than the Ref's
     */
    public abstract Window window(long ref);

    /** As {@link #window}, on behalf of whoever goes on to read there: a space may bound how often that happens. */
    public Window follow(long ref) {
        return window(ref);
    }

    /** The memory that {@link #offset} indexes for this Ref; throws as {@link #window}. */
    public final MemorySegment memory(long ref) {
        return window(ref).memory;
    }

    /** Byte offset of the object inside {@link #memory}; throws as {@link #window}. */
    public final long offset(long ref) {
        return window(ref).at(ref);
    }

    /**
     * A stretch of an arena as one process sees it: where it is mapped or copied, and where it ends. Objects that begin in it must
     * end in it. Set up by whoever owns the space, and constant while Refs into it are followed.
     */
    public static final class Window {
        private MemorySegment memory;
        private long shift;
        private long end;

        /** A window on nothing yet. */
        public Window() {}

        /**
         * @param newMemory where the stretch is
         * @param newShift from offsets in the arena to offsets in that memory, in bytes
         * @param newEnd offset in that memory of the first byte behind the stretch
         */
        public void set(MemorySegment newMemory, long newShift, long newEnd) {
            memory = newMemory;
            shift = newShift;
            end = newEnd;
        }

        public MemorySegment memory() {
            return memory;
        }

        /** Where in {@link #memory} a Ref leads that belongs here. */
        public long at(long ref) {
            return Ref.offset(ref) + shift;
        }

        /** Offset in {@link #memory} of the first byte behind the stretch. */
        public long end() {
            return end;
        }
    }
}
