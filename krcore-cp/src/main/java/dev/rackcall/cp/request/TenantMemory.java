package dev.rackcall.cp.request;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.cp.table.NamedRegion;
import dev.rackcall.cp.table.RecordTable;
import dev.rackcall.cp.table.RegionRecord;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.soft.memory.AccessBarrier;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The memory regions of one tenant of this process's agent. Requests are checked against them without a lock and
 * without asking the device. Any thread may use it.
 */
public final class TenantMemory {
    private final String tenant;
    private final HostDevice device;
    private final RecordTable table;
    private final PendingRegions inHand;
    private final int maxRegions;
    /** Replaced, never changed: requests are checked without a lock. */
    private volatile Region[] regions = {};
    /** Regions that are being registered; guarded by the monitor, with what follows. */
    private int registering;

    private boolean closed;

    /**
     * @param tenant its name, for messages
     * @param table the host's memory regions, which peers read
     * @param inHand counts threads that register or close a region
     */
    public TenantMemory(String tenant, HostDevice device, RecordTable table, PendingRegions inHand, int maxRegions) {
        this.tenant = tenant;
        this.device = device;
        this.table = table;
        this.inHand = inHand;
        this.maxRegions = maxRegions;
    }

    /** The tenant's name. */
    public String tenant() {
        return tenant;
    }

    public boolean isHardware() {
        return device.isHardware();
    }

    /** Registers memory that stays the caller's. */
    public MemoryRegion register(MemorySegment memory, Set<Access> rights) {
        return register(memory, rights, Optional.empty());
    }

    /** Maps and registers a file, and closes both with the region. */
    public MemoryRegion share(SharedFile file, Set<Access> rights) {
        Mapping mapping;
        try (file) {
            mapping = file.map();
        }
        try {
            return register(mapping.memory(), rights, Optional.of(mapping));
        } catch (RuntimeException e) {
            mapping.close();
            throw e;
        }
    }

    /** @param mapping to be closed with the region */
    private MemoryRegion register(MemorySegment memory, Set<Access> rights, Optional<Mapping> mapping) {
        reserve();
        try {
            // Without the monitor: a device may take long to pin memory, and connecting takes the monitor, too.
            MemoryRegion region = device.domain().register(memory, rights);
            Region made = new Region(region, Access.bits(rights), mapping);
            try {
                add(made, rights);
            } catch (RuntimeException e) {
                table.remove(RegionRecord.keyOf(region.remoteKey()));
                region.close();
                throw e;
            }
            return made;
        } finally {
            synchronized (this) {
                registering--;
            }
            inHand.end();
        }
    }

    private synchronized void reserve() {
        requireOpen();
        if (regions.length + registering >= maxRegions) {
            throw new ControlPlaneException(
                    Kind.QUOTA_EXCEEDED,
                    "tenant " + tenant + " has " + maxRegions + " memory regions and may have no more; close some, or"
                            + " raise AgentOptions.withQuota");
        }
        registering++;
        inHand.begin();
    }

    private synchronized void add(Region made, Set<Access> rights) {
        // The tenant may have been closed in the meantime.
        requireOpen();
        if (isForPeers(Access.bits(rights))) {
            table.put(RegionRecord.keyOf(made.remoteKey()), made.record().toBytes());
        }
        regions = Stream.concat(Stream.of(regions), Stream.of(made)).toArray(Region[]::new);
    }

    private synchronized void remove(Region region) {
        table.remove(RegionRecord.keyOf(region.remoteKey()));
        regions = Stream.of(regions).filter(other -> other != region).toArray(Region[]::new);
    }

    /** @throws ControlPlaneException QUEUE_FAILED if the tenant was closed */
    public synchronized void requireOpen() {
        if (closed) {
            throw new ControlPlaneException(Kind.QUEUE_FAILED, "tenant " + tenant + " is closed; admit it again");
        }
    }

    public synchronized boolean isClosed() {
        return closed;
    }

    private Optional<Region> region(int localKey) {
        for (Region region : regions) {
            if (region.localKey() == localKey) {
                return Optional.of(region);
            }
        }
        return Optional.empty();
    }

    /** The key by which peers reach the region of this local key; 0 for none. */
    public int remoteKey(int localKey) {
        return region(localKey).map(Region::remoteKey).orElse(0);
    }

    /** The region of this remote key, if peers may use it. */
    Optional<NamedRegion> named(int remoteKey) {
        for (Region region : regions) {
            if (region.remoteKey() == remoteKey && isForPeers(region.record().rights())) {
                return Optional.of(new NamedRegion(remoteKey, region.record()));
            }
        }
        return Optional.empty();
    }

    private static boolean isForPeers(int rights) {
        return (rights & ~Access.LOCAL_WRITE.bit()) != 0;
    }

    /** Copies a part of a region; returns false if the memory is gone. */
    boolean read(int localKey, long address, byte[] into, int at, int length) {
        return copy(
                localKey,
                address,
                length,
                memory -> MemorySegment.copy(memory, 0, MemorySegment.ofArray(into), at, length));
    }

    /** Writes into a region; returns false if the memory is gone. */
    public boolean write(int localKey, long address, MemorySegment payload) {
        return copy(localKey, address, payload.byteSize(), memory -> memory.copyFrom(payload));
    }

    private boolean copy(int localKey, long address, long length, Consumer<MemorySegment> copier) {
        Optional<Region> region = region(localKey);
        if (region.isEmpty() || !region.get().record().allows(address, length, 0)) {
            return false;
        }
        try {
            copier.accept(region.get().memory().asSlice(address - region.get().address(), length));
            AccessBarrier.await();
            return true;
        } catch (IllegalStateException | InternalError gone) {
            // Its owner has just unmapped the memory or cut the file.
            return false;
        }
    }

    /** Whether a request may use this range of a region with these rights. */
    public boolean allows(int localKey, long address, long length, int rights) {
        for (Region region : regions) {
            if (region.localKey() == localKey) {
                return region.record().allows(address, length, rights);
            }
        }
        return false;
    }

    /** Registers nothing more from now on. */
    public synchronized void stop() {
        closed = true;
    }

    /** Closes all regions; after {@link #stop}. */
    public void close() {
        for (Region region : regions) {
            region.close();
        }
    }

    /** A memory region, with the record against which requests are checked. */
    private final class Region implements MemoryRegion {
        private final MemoryRegion region;
        private final RegionRecord record;
        private final int localKey;
        private final Optional<Mapping> mapping;
        private final AtomicBoolean closed = new AtomicBoolean();

        Region(MemoryRegion region, int rights, Optional<Mapping> mapping) {
            this.mapping = mapping;
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
            // Before the flag: a thread that finds it set and then closes the agent waits for the thread that set it.
            inHand.begin();
            try {
                if (closed.compareAndSet(false, true)) {
                    remove(this);
                    region.close();
                    mapping.ifPresent(Mapping::close);
                }
            } finally {
                inHand.end();
            }
        }
    }
}
