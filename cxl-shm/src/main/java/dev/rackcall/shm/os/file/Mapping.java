package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.ByteSize;
import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.OsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * A whole file mapped into this process. After {@link #close} every access to {@link #memory} and its slices, by any
 * thread, throws an {@link IllegalStateException}; it never crashes. Mapping and unmapping costs about 15 us, so map
 * once and not per call.
 */
public final class Mapping implements AutoCloseable {
    /** What mappings belong to, also after their end. Their segments keep the keys. */
    private static final Map<MemorySegment.Scope, Owner> OWNERS = Collections.synchronizedMap(new WeakHashMap<>());

    private static final Owner UNKNOWN = new Owner("the connection or pool that it belongs to");

    /** @param advice why it has ended, if that is known, and what to do next */
    private record Owner(String name, String advice) {
        Owner(String name) {
            this(name, "copy what has to last");
        }
    }

    private final Arena lifetime;
    private final MemorySegment memory;

    private Mapping(Arena lifetime, MemorySegment memory) {
        this.lifetime = lifetime;
        this.memory = memory;
    }

    static Mapping of(int fd, long offset, long bytes, boolean sparse, String name) {
        return of(fd, offset, bytes, sparse, name, LibcFiles.PROT_READ | LibcFiles.PROT_WRITE);
    }

    static Mapping readOnly(int fd, long offset, long bytes, String name) {
        return of(fd, offset, bytes, true, name, LibcFiles.PROT_READ);
    }

    private static Mapping of(int fd, long offset, long bytes, boolean sparse, String name, int protection) {
        CallState state = CallState.current();
        // Without NORESERVE a mapping of huge pages would take the whole quota at once. reserve() takes it piece by
        // piece.
        int flags = LibcFiles.MAP_SHARED | (sparse ? LibcFiles.MAP_NORESERVE : 0);
        long address = LibcFiles.mmap(state.errnoSegment(), 0, bytes, protection, flags, fd, offset);
        if (address == LibcFiles.MAP_FAILED) {
            throw new OsException(
                    "mapping " + ByteSize.describe(bytes) + " of " + name,
                    state.errno(),
                    "check ulimit -v and vm.max_map_count");
        }
        Arena lifetime = Arena.ofShared();
        MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(bytes, lifetime, Mapping::unmap);
        return new Mapping(lifetime, (protection & LibcFiles.PROT_WRITE) == 0 ? memory.asReadOnly() : memory);
    }

    private static void unmap(MemorySegment memory) {
        LibcFiles.munmap(CallState.current().errnoSegment(), memory.address(), memory.byteSize());
    }

    /** Records what this memory belongs to, such as a channel, for messages after its end; returns this mapping. */
    public Mapping ownedBy(String owner) {
        OWNERS.put(memory.scope(), new Owner(owner));
        return this;
    }

    /** Records why the owner ends and what its users can do about that, for messages after its end. */
    public void advise(String advice) {
        OWNERS.computeIfPresent(memory.scope(), (_, owner) -> new Owner(owner.name, advice));
    }

    /** What a mapping's memory, or a part of it, belongs to. */
    public static String ownerOf(MemorySegment memory) {
        return OWNERS.getOrDefault(memory.scope(), UNKNOWN).name;
    }

    /** What users of a mapping's memory that has ended, or of a part of it, can do. */
    public static String adviceOf(MemorySegment memory) {
        return OWNERS.getOrDefault(memory.scope(), UNKNOWN).advice;
    }

    /** All bytes of the file; alive until {@link #close}. */
    public MemorySegment memory() {
        return memory;
    }

    /**
     * Unmaps. Any thread may call it while others read; those get an {@link IllegalStateException}. Idempotent.
     *
     * @throws IllegalStateException if a system call is just using part of the memory; see {@link Unmapping}
     */
    @Override
    public synchronized void close() {
        if (memory.scope().isAlive()) {
            lifetime.close();
        }
    }

    /** As {@link #close}, but returns false instead of throwing if it stays mapped. */
    synchronized boolean tryClose() {
        try {
            close();
        } catch (IllegalStateException e) {
            if (!memory.scope().isAlive()) {
                throw e;
            }
        }
        return !memory.scope().isAlive();
    }
}
