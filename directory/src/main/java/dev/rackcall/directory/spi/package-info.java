/**
 * What a directory is kept in: a small tree of entries, some of which live as long as the lease of whoever made them.
 * A {@link dev.rackcall.directory.StoreProvider} is found by its address's scheme through {@code ServiceLoader}.
 * Names, endpoints, arena ids and quotas are written once, above it.
 */
package dev.rackcall.directory.spi;
