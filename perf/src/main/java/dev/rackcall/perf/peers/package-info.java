/**
 * What Rackcall's calls are compared with: the raw ping-pong through two cache lines
 * ({@link dev.rackcall.perf.peers.RawPingPong}), two copies of a value
 * ({@link dev.rackcall.perf.peers.TwoCopies}), Aeron IPC ({@link dev.rackcall.perf.peers.AeronIpc}) and grpc-java
 * ({@link dev.rackcall.perf.peers.GrpcCall}). Each is set up as its users would set it up for speed.
 */
package dev.rackcall.perf.peers;
