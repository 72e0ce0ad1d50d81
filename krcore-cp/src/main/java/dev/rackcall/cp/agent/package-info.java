/**
 * The agent of a host, in this process. {@link dev.rackcall.cp.agent.Agent} opens the device and admits tenants;
 * {@link dev.rackcall.cp.agent.LocalTenant}, {@link dev.rackcall.cp.agent.LocalQueue} and
 * {@link dev.rackcall.cp.agent.LocalPort} do the work. {@link dev.rackcall.cp.agent.AgentMessages} carries messages.
 */
package dev.rackcall.cp.agent;
