package dev.rackcall.verbs;

/**
 * The capabilities of a device (struct ibv_device_attr).
 *
 * @param firmware version text
 * @param maxQueuePairs queue pairs
 * @param maxWorkRequests outstanding work requests on one queue of a queue pair
 * @param maxSegments scatter-gather entries of a work request
 * @param maxCompletionQueues completion queues
 * @param maxCompletions entries of one completion queue
 * @param maxMemoryRegions memory regions
 * @param maxReadAtomic outstanding READs and atomics that a queue pair can answer
 * @param maxSharedReceiveQueues shared receive queues
 * @param ports number of ports; they are numbered from 1
 * @param atomics whether CAS and FETCH_ADD work; they are atomic among themselves, but not with respect to the
 *     processor's own atomics
 * @param dynamicallyConnected whether queue pairs of type DC can be created
 */
public record DeviceAttributes(
        String firmware,
        int maxQueuePairs,
        int maxWorkRequests,
        int maxSegments,
        int maxCompletionQueues,
        int maxCompletions,
        int maxMemoryRegions,
        int maxReadAtomic,
        int maxSharedReceiveQueues,
        int ports,
        boolean atomics,
        boolean dynamicallyConnected) {}
