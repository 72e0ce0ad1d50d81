/**
 * Connections that carry frames between two processes: a Unix socket, and memory with a pipe per direction. Knows
 * streams by their numbers only; {@code dev.rackcall.grpc} gives the frames their meaning. Start with {@link
 * dev.rackcall.grpc.wire.PipeConnection}.
 */
package dev.rackcall.grpc.wire;
