/** Races of the client's side of calls, in the package of the code under test; nothing else depends on them. */
package dev.rackcall.rpc.shm.client;
