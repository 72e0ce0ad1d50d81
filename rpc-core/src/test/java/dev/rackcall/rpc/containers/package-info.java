/**
 * Calls between containers that share nothing but the runtime folder. Each side has its own user, process, mount, network and IPC namespace,
 * a memory limit, and a filter that refuses the system calls which Docker's default profile refuses. Start with
 * {@link dev.rackcall.rpc.containers.ContainersTest}.
 */
package dev.rackcall.rpc.containers;
