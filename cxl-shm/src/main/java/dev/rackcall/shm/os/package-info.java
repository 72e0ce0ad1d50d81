/**
 * The operating system, and the only package that links native code. Three layers: the domain's words ({@link
 * dev.rackcall.shm.os.SharedFile}, {@link dev.rackcall.shm.os.UnixSocket}, {@link dev.rackcall.shm.os.EventPoll}, {@link
 * dev.rackcall.shm.os.Futex}, {@link dev.rackcall.shm.os.OwnerLock}), Linux's policy inside them (which flags, what an errno
 * means, what to advise), and the thin mirror of C ({@code Libc...}: one handle and one small method per function). Start with
 * {@link dev.rackcall.shm.os.SharedFile}.
 */
package dev.rackcall.shm.os;
