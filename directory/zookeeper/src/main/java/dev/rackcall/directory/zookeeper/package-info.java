/**
 * A directory of a cluster, kept in ZooKeeper through Curator.
 * A member's lease is its session, which the ensemble counts: what is mine is an ephemeral node.
 * Losing a server of the ensemble costs nothing; losing its majority leaves what is followed as it was known last.
 */
package dev.rackcall.directory.zookeeper;
