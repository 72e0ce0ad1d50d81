package dev.rackcall.verbs;

import java.lang.foreign.MemorySegment;

/**
 * Memory that a device may use. The caller keeps ownership and must not unmap the memory before the region is closed.
 * Closing a region invalidates its keys, so later requests of peers fail. This takes effect at once, or, if another
 * process has the device, when that process is notified.
 */
public interface MemoryRegion extends AutoCloseable {
    /** The registered memory. */
    MemorySegment memory();

    /** Address of the first byte, for requests of peers. */
    long address();

    /** Length in bytes. */
    long byteSize();

    /** Key for local work requests. */
    int localKey();

    /** Key that a peer needs. */
    int remoteKey();

    @Override
    void close();
}
