/**
 * A directory of one host: files in a directory that only its user can write, and no server.
 * The kernel keeps the leases: a member holds a lock on a file of its own, which is released when it dies, whatever killed it.
 * Whoever finds the lock of a member free removes what that member has left.
 */
package dev.rackcall.directory.file;
