/**
 * Unix sockets between processes, and epoll to wait for many of them. The kernel closes a socket when its process dies,
 * however it dies; the project relies on this as proof of death. Start with {@link
 * dev.rackcall.shm.os.socket.UnixSocket}.
 */
package dev.rackcall.shm.os.socket;
