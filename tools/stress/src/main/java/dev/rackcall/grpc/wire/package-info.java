/** Races of the wake-ups of gRPC's connections. */
package dev.rackcall.grpc.wire;
