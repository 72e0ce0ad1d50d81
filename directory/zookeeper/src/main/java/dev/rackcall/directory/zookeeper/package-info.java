/**
 * The directory of a cluster, kept in ZooKeeper through Curator.
 * A member's lease is its session, which the ensemble counts; an entry that is bound to it is an ephemeral node.
 * Losing a server of the ensemble has no effect. Without a majority, followed folders keep their last known entries.
 */
package dev.rackcall.directory.zookeeper;
