/**
 * Races of the wake-ups of gRPC's connections: frames, room in a pipe, and callers that leave. They live in the package
 * of what they are about, to reach it; nothing else depends on them.
 */
package dev.rackcall.grpc.wire;
