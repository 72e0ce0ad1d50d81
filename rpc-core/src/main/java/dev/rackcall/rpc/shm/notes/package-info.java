/**
 * What the ends of a connection write for observers only, such as {@code rackcall top}: which processes they are,
 * where a connection lies in a pool, and how many calls a gRPC connection has had. Calls never read it. Observers trust none of it.
 */
package dev.rackcall.rpc.shm.notes;
