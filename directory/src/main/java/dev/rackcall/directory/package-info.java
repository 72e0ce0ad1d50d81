/**
 * Names the servers of each channel, and hands out what must be unique or bounded in a cluster: arena ids and memory.
 * A {@link dev.rackcall.directory.Directory} is one process's membership; its announcements and claims last as long as
 * its lease. A {@link dev.rackcall.directory.DirectoryStore} keeps the entries; {@code ServiceLoader} finds it by the
 * scheme of the directory's address.
 */
package dev.rackcall.directory;
