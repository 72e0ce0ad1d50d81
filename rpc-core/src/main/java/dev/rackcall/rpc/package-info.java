/**
 * What a user of Rackcall writes against: annotations, channels, servers, status, deadlines, metadata and interceptors.
 * Generated code meets the runtime in {@link dev.rackcall.rpc.spi}; the shared-memory transport is {@code dev.rackcall.rpc.shm}.
 * The call path, in reading order: a generated stub, {@code ShmClientConnection}, {@code SlotLayout}, {@code ShmServerConnection},
 * a generated dispatcher.
 */
package dev.rackcall.rpc;
