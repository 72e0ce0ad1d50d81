/**
 * Calls to peers that share no memory. Both ends of a connection have the memory of a shared-memory connection, and what one end writes is pushed to the other by
 * RDMA writes: {@link dev.rackcall.rdma.end.Shadow} finds what has changed, {@link dev.rackcall.rdma.PairHello} is what the two tell each other first.
 * docs/rdma.md says how the parts fit.
 */
package dev.rackcall.rdma;
