/** Races of ALock's local threads. They live in the package of what they are about, to reach it; nothing else depends on them. */
package dev.rackcall.rdma.lock;
