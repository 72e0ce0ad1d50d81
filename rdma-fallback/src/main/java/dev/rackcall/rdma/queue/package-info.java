/**
 * Calls over virtual queues of the control plane, which share the few queue pairs of the host's agent, so that
 * connecting takes two messages. Start with {@link dev.rackcall.rdma.queue.QueueCarriers}, which connects and listens;
 * {@link dev.rackcall.rdma.queue.QueueCarrier} is one end of a connection, {@link dev.rackcall.rdma.queue.QueueHub}
 * what all ends of a process share. docs/internals/rdma-queues.md describes the protocol.
 */
package dev.rackcall.rdma.queue;
