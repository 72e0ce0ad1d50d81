/**
 * The smallest application of grpc-java: a server that greets and a client that asks it to. Both are written as for any other transport, and the line that was
 * changed for Rackcall is marked. Start the server first; the client needs nothing but its name.
 */
package dev.rackcall.samples.grpc.helloworld;
