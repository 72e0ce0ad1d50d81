/** Races of the server's threads, in the package of the code under test; nothing else depends on them. */
package dev.rackcall.rpc.shm.server;
