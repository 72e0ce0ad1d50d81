/**
 * Parts of the runtime that users do not name and that belong to no transport: where sockets and lock files lie, and
 * how registered classes are encoded. {@link dev.rackcall.rpc.runtime.RuntimeDirectory} is the place on disk; {@code
 * KryoCodec} encodes what generated code cannot.
 */
package dev.rackcall.rpc.runtime;
