/**
 * The control plane: many virtual queues over few queue pairs, connected in microseconds because what a peer is reached by lies in a cache or
 * is read one-sided from the meta server. Start with {@link dev.rackcall.cp.Agent}; {@link dev.rackcall.cp.VirtualQueue} is what programs
 * use, {@link dev.rackcall.cp.MetaServer} what hosts find each other by. docs/control-plane.md says how it works.
 */
package dev.rackcall.cp;
