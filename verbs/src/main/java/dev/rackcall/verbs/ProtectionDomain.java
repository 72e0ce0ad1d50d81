package dev.rackcall.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * A group of objects: a queue pair can access only memory regions of its own protection domain. Any thread may use it.
 */
public interface ProtectionDomain extends AutoCloseable {
    /**
     * Registers native memory. All threads must be able to access it: a shared, global or automatic arena, not a
     * confined one.
     *
     * @throws VerbsException if the device refuses, for example REMOTE_WRITE without LOCAL_WRITE
     */
    MemoryRegion register(MemorySegment memory, Set<Access> rights);

    /** Creates a queue pair in state RESET. */
    QueuePair createQueuePair(QueuePairSpec spec);

    /**
     * Creates a queue of receive requests for several queue pairs.
     *
     * @param requests minimum capacity
     * @param segments minimum number of scatter entries per request
     */
    SharedReceiveQueue createSharedReceiveQueue(int requests, int segments);

    /** Creates the address of a port for UD and DC. */
    AddressHandle createAddressHandle(AddressVector vector);

    /** Closes it; fails with EBUSY while an object created from it is open. */
    @Override
    void close();
}
