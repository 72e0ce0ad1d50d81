/**
 * The sending half of a connection whose ends have memory of their own, whatever takes the requests. {@link dev.rackcall.rdma.sending.Sending} is where to start: what is carried, stored and fetched, in
 * order, by any thread. {@link dev.rackcall.rdma.sending.SendQueue} and {@link dev.rackcall.rdma.sending.ConnectionMemory} are what queue pairs and virtual queues do each in their own way.
 */
package dev.rackcall.rdma.sending;
