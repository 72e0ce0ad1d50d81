/**
 * The operating system: this package and those below it are the only ones of this module that link native code.
 * {@code Libc...} classes mirror C, one handle and one small method for each function; the other classes apply Linux's rules and explain its errors.
 * Start with {@link dev.rackcall.shm.os.Linkage}; {@code os.file} has files, mappings and locks, {@code os.socket} has Unix sockets and epoll.
 */
package dev.rackcall.shm.os;
