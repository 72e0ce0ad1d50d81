package dev.rackcall.verbs.soft.memory;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Set;

/**
 * The memory regions of one protection domain. Every access names a key and checks the region's domain, bounds and
 * rights. An access returns false if the region does not allow it or its memory is gone: the application closed the
 * arena under the region, or the file behind it has no page there.
 */
public final class DomainMemory {
    private final DeviceMemory device;
    private final Runnable regionClosed;

    public DomainMemory(DeviceMemory device, Runnable regionClosed) {
        this.device = device;
        this.regionClosed = regionClosed;
    }

    /** Returns a new region, or nothing if the device has no key left. */
    public Optional<MemoryRegion> register(MemorySegment memory, Set<Access> rights) {
        int key = device.regions().reserve();
        if (key == 0) {
            return Optional.empty();
        }
        SoftMemoryRegion region = new SoftMemoryRegion(this, memory, Access.bits(rights), key);
        device.regions().put(key, region);
        return Optional.of(region);
    }

    void closed(SoftMemoryRegion region) {
        device.regions().remove(region.localKey());
        regionClosed.run();
    }

    void insideAtomic() {
        device.insideAtomic();
    }

    /**
     * Whether the region with this key grants the right ({@link Access#bit}; 0 for local reading) to all of this range.
     */
    public boolean allows(int key, long address, long length, int right) {
        return allowing(key, address, length, right) != null;
    }

    private SoftMemoryRegion allowing(int key, long address, long length, int right) {
        SoftMemoryRegion region = device.regions().get(key);
        return region != null && region.allows(this, address, length, right) ? region : null;
    }

    /**
     * Copies bytes into the region. Rights are checked for each part of a message, since the region may have been
     * closed in the meantime.
     */
    public boolean store(int key, long address, MemorySegment from, long at, long length, int right) {
        SoftMemoryRegion region = allowing(key, address, length, right);
        if (region == null || !region.enter()) {
            return false;
        }
        try {
            region.store(from, at, address, length);
            return true;
        } catch (IllegalStateException | InternalError gone) {
            return false;
        } finally {
            region.exit();
        }
    }

    /** Copies bytes out of the region. */
    public boolean load(int key, long address, MemorySegment to, long at, long length, int right) {
        SoftMemoryRegion region = allowing(key, address, length, right);
        if (region == null || !region.enter()) {
            return false;
        }
        try {
            region.load(address, to, at, length);
            return true;
        } catch (IllegalStateException | InternalError gone) {
            return false;
        } finally {
            region.exit();
        }
    }

    /**
     * Compares the word at this address with {@code expected} and replaces it by {@code desired}; {@code old[0]}
     * receives the previous value.
     */
    public boolean compareAndSwap(int key, long address, long expected, long desired, long[] old) {
        return atomic(key, address, false, expected, desired, old);
    }

    /** Adds to the word at this address; {@code old[0]} receives the previous value. */
    public boolean fetchAndAdd(int key, long address, long addend, long[] old) {
        return atomic(key, address, true, addend, 0, old);
    }

    private boolean atomic(int key, long address, boolean add, long operand, long desired, long[] old) {
        SoftMemoryRegion region = allowing(key, address, Long.BYTES, Access.REMOTE_ATOMIC.bit());
        if (region == null || !region.enter()) {
            return false;
        }
        try {
            // The processor's own atomics do not take this lock.
            synchronized (device) {
                old[0] = add ? region.fetchAndAdd(address, operand) : region.compareAndSwap(address, operand, desired);
            }
            return true;
        } catch (IllegalStateException | InternalError gone) {
            return false;
        } finally {
            region.exit();
        }
    }
}
