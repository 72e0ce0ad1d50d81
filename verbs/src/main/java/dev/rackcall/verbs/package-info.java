/**
 * RDMA verbs. Opening a {@link dev.rackcall.verbs.Device} returns a {@link dev.rackcall.verbs.Context}, which creates
 * protection domains, memory regions, completion queues and queue pairs as in libibverbs. Real devices and the software
 * device, which needs no hardware, implement the same interface. Start with {@link dev.rackcall.verbs.Devices} and
 * {@link dev.rackcall.verbs.QueuePair}.
 */
package dev.rackcall.verbs;
