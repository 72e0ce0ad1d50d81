package dev.rackcall.verbs;

import java.lang.foreign.MemorySegment;

/**
 * Memory that a device may use. The memory stays the caller's: it must not be unmapped before the region is closed. Closing a region makes
 * its keys worthless at once, or where another process has the device as soon as that has heard of it; requests of peers that come later fail.
 */
public interface MemoryRegion extends AutoCloseable {
    /** The memory, as it was registered. */
    MemorySegment memory();

    /** Address of the first byte, as peers name it. */
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
