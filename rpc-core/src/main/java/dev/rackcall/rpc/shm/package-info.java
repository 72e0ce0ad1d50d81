/**
 * Calls over memory: {@code Transports} connects channels and starts servers; {@code ShmServer} accepts clients of this
 * host. The subpackages are {@code protocol} (what both ends agree on), {@code client}, {@code server}, {@code pool}
 * (hosts that share a pool), {@code mirror} (ends with memory of their own), {@code notes} (what ends write for
 * observers only) and {@code view} (connections of other processes, read from outside).
 *
 * <p>One synchronous call in shared memory, in reading order.
 *
 * <p>Client:
 *
 * <ol>
 *   <li>{@code rpc.channel.StubCalls}: deadline, headers, connection
 *   <li>{@code client.ShmClientConnection}: begins the call; later publishes the request
 *   <li>{@code client.ClientSlots} and its {@code client.ClientSlot}: a free slot, by one compare-and-set
 *   <li>{@code client.ShmClientCall}: the call from its first argument to its end
 *   <li>{@code client.ClientRequest}: headers and arguments
 *   <li>{@code protocol.SlotLayout}: the words that publish request and response
 *   <li>{@code client.AnswerWaiting}: spins, then sleeps, until the response has arrived
 *   <li>{@code client.ClientAnswer}: the result, or the failure
 * </ol>
 *
 * <p>Server:
 *
 * <ol>
 *   <li>{@code server.Poller}: the polling thread, turn by turn over its connections
 *   <li>{@code server.ShmServerConnection}: takes requests in slot order
 *   <li>{@code protocol.SlotLayout}, and {@code protocol.ControlLayout} for the connection's header
 *   <li>{@code server.Handlers}: on the poller, on workers, or on a virtual thread
 *   <li>{@code server.Relief}: another thread takes over polling if a handler does not return
 *   <li>{@code server.ShmServerCall}: interceptors, the generated dispatcher, the answer
 *   <li>{@code server.ServerRequest}: header and arguments, checked
 *   <li>{@code server.ServiceBinding}: methods, interceptors, and what the server requires
 *   <li>{@code server.ServerResponse}: the result, and the word that publishes it
 * </ol>
 */
package dev.rackcall.rpc.shm;
