package dev.rackcall.cp;

import dev.rackcall.shm.os.Mapping;
import dev.rackcall.shm.os.SharedFile;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** Memory of this process that the agent's process has mapped and registered, too. Address and keys are those at the agent, and others after it has restarted. */
final class ForeignRegion implements MemoryRegion {
    /** What one life of the agent says of it. */
    record Registered(Attachment attachment, long address, int localKey, int remoteKey) {}

    private final ForeignTenant tenant;
    private final SharedFile file;
    private final MemorySegment memory;
    private final Optional<Mapping> mapping;
    private final int rights;
    private volatile Registered registered;

    /**
     * Takes the file over, once it is registered.
     *
     * @param memory of this process, where the file is mapped
     * @param mapping to be closed with the region
     */
    ForeignRegion(
            ForeignTenant tenant,
            SharedFile file,
            MemorySegment memory,
            Optional<Mapping> mapping,
            int rights,
            Attachment attachment) {
        this.tenant = tenant;
        this.file = file;
        this.memory = memory;
        this.mapping = mapping;
        this.rights = rights;
        registered = attachment.register(file, rights);
    }

    /** Registers it at another life of the agent. */
    void renew(Attachment attachment) {
        registered = attachment.register(file, rights);
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public long address() {
        return registered.address();
    }

    @Override
    public long byteSize() {
        return file.bytes();
    }

    @Override
    public int localKey() {
        return registered.localKey();
    }

    @Override
    public int remoteKey() {
        return registered.remoteKey();
    }

    @Override
    public void close() {
        if (tenant.forget(this)) {
            Registered last = registered;
            try {
                last.attachment().deregister(last.localKey());
            } finally {
                release();
            }
        }
    }

    /** Lets go of the memory; the agent does so by itself when the session ends. */
    void release() {
        file.close();
        mapping.ifPresent(Mapping::close);
    }
}
