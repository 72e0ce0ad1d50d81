/**
 * What the ends of a connection write for observers only, such as {@code rackcall top}: which processes they are, and
 * where a connection lies in a pool. Calls never read it. Observers trust none of it.
 */
package dev.rackcall.rpc.shm.notes;
