/**
 * A tenant of its host's agent process: the client side of a session. Start with
 * {@link dev.rackcall.cp.client.AgentFolder}. {@link dev.rackcall.cp.client.Membership} joins the next agent process
 * when one has ended, and {@link dev.rackcall.cp.client.TenantSession} is the session with one of them.
 */
package dev.rackcall.cp.client;
