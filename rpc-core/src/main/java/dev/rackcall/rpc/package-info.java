/**
 * The public API of Rackcall: annotations, channels, servers, status, deadlines, metadata and interceptors. {@code
 * rpc.channel} implements channels and servers; generated code meets the runtime in {@code rpc.spi}. To follow one
 * call, read the list in {@code rpc.shm}.
 */
package dev.rackcall.rpc;
