/**
 * Who serves which channel, where, and what else must be unique or bounded in a cluster: arena ids and memory.
 * A {@link dev.rackcall.directory.Directory} is one process's membership; what it announces or claims lives as long as its lease.
 * What is followed is cached: to look an endpoint up is to read a field, whatever the state of the directory's store.
 */
package dev.rackcall.directory;
