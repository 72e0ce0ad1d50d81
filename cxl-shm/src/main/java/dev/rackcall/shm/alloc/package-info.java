/**
 * The page allocator of an arena: which participant owns which pages. A {@link dev.rackcall.shm.alloc.PageTable} has
 * one word for each page, changed by compare-and-set, so that a process may die between any two steps. Start with the
 * drawing in {@link dev.rackcall.shm.alloc.PageEntry}, then read {@code PageRuns}, which explains why the steps are
 * safe.
 */
package dev.rackcall.shm.alloc;
