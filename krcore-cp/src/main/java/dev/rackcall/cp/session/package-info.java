/**
 * What an agent process and a tenant's process share: memory, a socket, and two files in the agent's folder.
 * {@link dev.rackcall.cp.session.SessionLayout} describes the memory, {@link dev.rackcall.cp.session.SessionMessage}
 * the messages on the socket. {@link dev.rackcall.cp.session.EntryRing} is the tenant's end of the ring in that memory.
 */
package dev.rackcall.cp.session;
