/**
 * A transport for grpc-java over shared memory, and over RDMA between hosts: applications change one line at the client
 * and one at the server. Start with {@link dev.rackcall.grpc.RackcallServerBuilder} and {@link dev.rackcall.grpc.RackcallChannelBuilder}.
 */
package dev.rackcall.grpc;
