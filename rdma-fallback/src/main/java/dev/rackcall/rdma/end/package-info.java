/**
 * One end of a connection between peers that share no memory, whatever carries its requests. Start with {@link
 * dev.rackcall.rdma.end.MirrorCarrier}, which sends what the connection writes. {@link dev.rackcall.rdma.end.RequestQueue}
 * and {@link dev.rackcall.rdma.end.EndMemory} are what queue pairs and virtual queues implement.
 */
package dev.rackcall.rdma.end;
