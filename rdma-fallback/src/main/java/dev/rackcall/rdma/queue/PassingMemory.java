package dev.rackcall.rdma.queue;

import dev.rackcall.cp.Tenant;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Memory of this process that is registered for one life of the agent: the connection or port that uses it lives no
 * longer. An agent process reserves all of it; the next agent process does not take it over.
 *
 * @param region all of the mapping
 */
record PassingMemory(Mapping mapping, MemoryRegion region) implements AutoCloseable {
    /**
     * New memory, all zero.
     *
     * @param name of the file, for diagnosis
     * @param bytes the least size
     * @throws dev.rackcall.cp.ControlPlaneException as {@link Tenant#register(SharedFile, MemorySegment, Set)}
     */
    static PassingMemory make(Tenant tenant, String name, long bytes, Set<Access> rights) {
        try (SharedFile file = SharedFile.memfd(name, bytes)) {
            return of(tenant, file, rights);
        }
    }

    /** The memory of a file, which the caller keeps. */
    static PassingMemory of(Tenant tenant, SharedFile file, Set<Access> rights) {
        Mapping mapping = file.map();
        try {
            return new PassingMemory(mapping, tenant.register(file, mapping.memory(), rights));
        } catch (RuntimeException | Error e) {
            mapping.close();
            throw e;
        }
    }

    @Override
    public void close() {
        region.close();
        mapping.close();
    }
}
