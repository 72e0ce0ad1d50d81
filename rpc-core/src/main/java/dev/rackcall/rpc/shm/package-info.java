/**
 * The shared-memory transport: one memfd per connection, requests and responses in slots, one release store each way.
 * {@code SlotLayout} and {@code ControlLayout} draw the memory; {@code ShmClientConnection} and {@code ShmServerConnection} are the two ends
 * of it. {@code Poller} runs the server's end, {@code ClientReactor} what the client's end cannot do on its callers' threads.
 */
package dev.rackcall.rpc.shm;
