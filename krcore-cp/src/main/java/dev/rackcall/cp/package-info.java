/**
 * The control plane: many virtual queues share few queue pairs, and connecting takes microseconds. A program opens an
 * {@link dev.rackcall.cp.agent.Agent}, or joins the agent process of its host by
 * {@link dev.rackcall.cp.client.AgentFolder}, and gets a {@link dev.rackcall.cp.Tenant}. The tenant registers memory,
 * connects a {@link dev.rackcall.cp.VirtualQueue} to any host, and binds a {@link dev.rackcall.cp.MessagePort}.
 */
package dev.rackcall.cp;
