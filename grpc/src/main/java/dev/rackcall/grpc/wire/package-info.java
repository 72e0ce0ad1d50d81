/**
 * Connections that carry frames between two processes: memory with a pipe per direction, and a Unix socket or a
 * carrier that mirrors the memory. Knows streams by their numbers only; {@code dev.rackcall.grpc} gives the frames their meaning. Start with {@link
 * dev.rackcall.grpc.wire.PipeConnection}.
 */
package dev.rackcall.grpc.wire;
