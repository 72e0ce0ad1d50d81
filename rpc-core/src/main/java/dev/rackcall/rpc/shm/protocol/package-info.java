/**
 * What both ends of a connection agree on: where its words, slots and arenas lie, what the handshake says, and how payloads and rings travel.
 * {@code ControlLayout} and {@code SlotLayout} draw the memory and name each store that another process waits for.
 * {@code Handshake} has the two messages that open a connection, {@code ControlOp} the requests that are no service methods.
 */
package dev.rackcall.rpc.shm.protocol;
