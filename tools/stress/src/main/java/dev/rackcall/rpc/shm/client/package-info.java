/** Races of the client's side of calls, in the package of what they test; nothing else depends on them. */
package dev.rackcall.rpc.shm.client;
