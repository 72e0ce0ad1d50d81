/**
 * The operating system: in this module, only this package and those below it link native code. {@code Libc...} classes
 * mirror C with one handle and one small method for each function; the other classes apply Linux's rules and explain
 * its errors. Start with {@link dev.rackcall.shm.os.Linkage}; {@code os.file} has files, mappings and locks, {@code
 * os.socket} has Unix sockets and epoll.
 */
package dev.rackcall.shm.os;
