/**
 * The client's end of a connection: claims slots, encodes requests, waits for answers and reads them. {@code
 * ShmClientConnection} is the end that channels use; {@code ShmClientCall} is one call, from its first argument to its
 * end. {@code ClientReactor} does the work that cannot be done on the callers' threads.
 */
package dev.rackcall.rpc.shm.client;
