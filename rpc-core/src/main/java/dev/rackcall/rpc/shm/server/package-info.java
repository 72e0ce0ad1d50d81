/**
 * The server's end of a connection: polls for requests, runs handlers, and publishes responses.
 * {@code Poller} is the thread, {@code ShmServerConnection} takes requests in slot order, {@code ShmServerCall} serves one of them.
 * {@code ConnectionFactory} makes the memory of new connections.
 */
package dev.rackcall.rpc.shm.server;
