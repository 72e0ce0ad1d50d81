/**
 * The agent process's side of sessions with tenants of other processes. {@link dev.rackcall.cp.server.AgentServer}
 * accepts them, {@link dev.rackcall.cp.server.AgentPump} polls their rings, and
 * {@link dev.rackcall.cp.server.SessionQueues} carries out their entries and believes nothing that it reads there.
 */
package dev.rackcall.cp.server;
