/**
 * Calls to peers that share no memory, over a queue pair for each connection. Start with {@link
 * dev.rackcall.rdma.RdmaCarriers}, which connects and listens; {@link dev.rackcall.rdma.PairCarrier} is one end of a
 * connection. docs/rdma.md shows how to use it, docs/internals/rdma.md how it works.
 */
package dev.rackcall.rdma;
