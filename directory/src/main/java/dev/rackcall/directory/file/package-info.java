/**
 * The directory of one host, kept in files, without a server.
 * The kernel keeps the leases: a member holds a lock on its own file, and the kernel releases it when the member dies.
 * A member that finds such a lock free removes the dead member's entries.
 */
package dev.rackcall.directory.file;
