package dev.rackcall.shm;

import java.lang.foreign.MemorySegment;

/**
 * Decides where a Ref leads and whether it may be followed. {@link ArenaTable} is the ordinary implementation;
 * sandboxes and snapshots have their own. Whatever bits a Ref holds, the result is a place inside mapped memory or a
 * {@link RefException}, never a wild read.
 */
public abstract class RefSpace {
    /**
     * The memory that a Ref points into.
     *
     * @throws RefException if no arena of that id is mapped here, if the offset lies outside its reserved part, or if
     *     the memory was freed or has another generation than the Ref
     */
    public abstract Window window(long ref);

    /** As {@link #window}, for a caller that will read the memory. A space may limit the number of such calls. */
    public Window follow(long ref) {
        return window(ref);
    }

    /**
     * Returns a result of a call to the process that made it, which frees its memory.
     *
     * @return false if the object is not such a result; nothing has happened then
     */
    public boolean release(Object sharedObject) {
        return false;
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
     * A stretch of an arena as one process sees it: where it is mapped or copied, and where it ends. Objects that begin
     * in it must end in it. The owner of the space sets the window, which stays constant while Refs into it are
     * followed.
     */
    public static final class Window {
        private MemorySegment memory;
        private long shift;
        private long end;

        /** A window that is not set yet. */
        public Window() {}

        /**
         * @param newMemory the memory that holds the stretch
         * @param newShift difference in bytes between an offset in that memory and the offset in the arena
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

        /** Offset in {@link #memory} of the byte that a Ref into this stretch points to. */
        public long at(long ref) {
            return Ref.offset(ref) + shift;
        }

        /** Offset in {@link #memory} of the first byte behind the stretch. */
        public long end() {
            return end;
        }
    }
}
