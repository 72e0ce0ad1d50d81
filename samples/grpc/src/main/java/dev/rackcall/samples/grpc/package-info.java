/**
 * Two applications of grpc-java whose calls travel through shared memory. They are what docs/grpc.md promises: everything but one line at the server and one at
 * the client is plain grpc-java. Each package has a server, a client and their {@code main} methods.
 */
package dev.rackcall.samples.grpc;
