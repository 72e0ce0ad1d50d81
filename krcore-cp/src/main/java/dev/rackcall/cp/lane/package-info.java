/**
 * Lanes: the queue pairs that virtual queues share. Start with {@link dev.rackcall.cp.lane.Lane}, which posts requests
 * and restarts its queue pair after a failure. {@link dev.rackcall.cp.lane.Lanes} has all lanes of an agent,
 * {@link dev.rackcall.cp.lane.Peers} its connected peers.
 */
package dev.rackcall.cp.lane;
