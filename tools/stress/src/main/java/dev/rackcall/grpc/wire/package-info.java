/**
 * Races of the wake-ups of gRPC's connections: frames, room in a pipe, and callers that leave. They are in the package
 * of the code under test, so that they can reach it; nothing else depends on them.
 */
package dev.rackcall.grpc.wire;
