/**
 * Reads the memory of other processes' connections from outside, for {@code rackcall top}. It opens that memory for
 * reading only, asks nothing of its owners, and believes nothing that it reads: sizes come from the kernel, and memory
 * that makes no sense is reported as such.
 */
package dev.rackcall.rpc.shm.view;
