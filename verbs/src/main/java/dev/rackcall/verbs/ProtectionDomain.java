package dev.rackcall.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/** What belongs together: a queue pair reaches memory regions of its own protection domain only. Any thread may use it. */
public interface ProtectionDomain extends AutoCloseable {
    /**
     * Registers native memory. All threads must be able to access it: a shared, global or automatic arena, not a confined one.
     *
     * @throws VerbsException if the device refuses, for example a right to write remotely without the right to write locally
     */
    MemoryRegion register(MemorySegment memory, Set<Access> rights);

    /** Makes a queue pair in state RESET. */
    QueuePair createQueuePair(QueuePairSpec spec);

    /**
     * Makes a queue of receive requests that several queue pairs take from.
     *
     * @param requests receive requests it can hold, at least
     * @param segments scatter entries of each, at least
     */
    SharedReceiveQueue createSharedReceiveQueue(int requests, int segments);

    /** Makes a way to a port for UD and DC. */
    AddressHandle createAddressHandle(AddressVector vector);

    /** Closes it; fails with EBUSY while anything made from it is open. */
    @Override
    void close();
}
