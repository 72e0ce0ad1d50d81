/**
 * The two borders of the runtime: what generated stubs and dispatchers call, and what a transport has to implement.
 * Users never touch this package. Start with {@link dev.rackcall.rpc.spi.ServiceDefinition}, then
 * {@link dev.rackcall.rpc.spi.ClientCall} and {@link dev.rackcall.rpc.spi.ServerCall}.
 */
package dev.rackcall.rpc.spi;
