/**
 * The protocol between both ends of a connection: the layout of its memory, the handshake, and how payloads and rings
 * travel. {@code ControlLayout} and {@code SlotLayout} define the memory's layout and name each store that another
 * process waits for. {@code Handshake} defines the two messages that open a connection, {@code ControlOp} the requests
 * that are not service methods.
 */
package dev.rackcall.rpc.shm.protocol;
