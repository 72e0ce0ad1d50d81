/**
 * Unix sockets between processes, and epoll to wait for many of them. The kernel closes a socket when its process dies,
 * however that happens; this is the project's proof of death. Start with {@link dev.rackcall.shm.os.socket.UnixSocket}.
 */
package dev.rackcall.shm.os.socket;
