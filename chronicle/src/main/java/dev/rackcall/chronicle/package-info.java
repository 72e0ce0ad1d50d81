/**
 * {@code Bytes<?>} of Chronicle as arguments and results of calls. {@link dev.rackcall.chronicle.ChronicleBytes} creates
 * those that lie in shared memory, which travel by pointer; others are copied. Programs that use this package start Java
 * with the flags that Chronicle Bytes needs.
 */
package dev.rackcall.chronicle;
