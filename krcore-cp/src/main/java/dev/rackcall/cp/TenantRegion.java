package dev.rackcall.cp;

import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** A tenant's memory region: what the agent knows of it, so that it can check requests without asking the device. */
final class TenantRegion implements MemoryRegion {
    private final LocalTenant tenant;
    private final MemoryRegion region;
    private final RegionRecord record;
    private final int localKey;
    private final Optional<Mapping> mapping;
    private final AtomicBoolean closed = new AtomicBoolean();

    TenantRegion(LocalTenant tenant, MemoryRegion region, int rights, Optional<Mapping> mapping) {
        this.mapping = mapping;
        this.tenant = tenant;
        this.region = region;
        record = new RegionRecord(region.address(), region.byteSize(), rights);
        localKey = region.localKey();
    }

    RegionRecord record() {
        return record;
    }

    @Override
    public MemorySegment memory() {
        return region.memory();
    }

    @Override
    public long address() {
        return record.address();
    }

    @Override
    public long byteSize() {
        return record.length();
    }

    @Override
    public int localKey() {
        return localKey;
    }

    @Override
    public int remoteKey() {
        return region.remoteKey();
    }

    @Override
    public void close() {
        // Before the flag: who finds it set, and then closes the agent, waits for who has set it.
        tenant.regionsInHand().begin();
        try {
            if (closed.compareAndSet(false, true)) {
                tenant.forget(this);
                region.close();
                mapping.ifPresent(Mapping::close);
            }
        } finally {
            tenant.regionsInHand().end();
        }
    }
}
