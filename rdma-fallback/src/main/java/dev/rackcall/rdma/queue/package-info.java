/**
 * Calls over virtual queues of the control plane: the connections of a process make no queue pair of their own but share the few that its agent has, so connecting takes two messages. A
 * connection is the same as over a queue pair of its own, two memories into which the peer writes; {@link dev.rackcall.rdma.queue.QueueCarrier} is one end, {@link dev.rackcall.rdma.queue.QueueHub}
 * what all ends of a process have in common. docs/rdma.md says how the parts fit.
 */
package dev.rackcall.rdma.queue;
