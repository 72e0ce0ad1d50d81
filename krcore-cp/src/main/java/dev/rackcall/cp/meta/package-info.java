/**
 * The meta server, where hosts find each other. {@link dev.rackcall.cp.meta.MetaServer} holds the table of hosts,
 * {@link dev.rackcall.cp.meta.MetaClient} reads it, and {@link dev.rackcall.cp.meta.Registration} keeps a host in it.
 * {@link dev.rackcall.cp.meta.MetaDirectory} names the meta server in a directory.
 */
package dev.rackcall.cp.meta;
