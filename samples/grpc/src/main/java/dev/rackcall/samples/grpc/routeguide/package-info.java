/**
 * An application of grpc-java with all four kinds of calls: one answer, a stream of answers, a stream of requests, and streams in both directions. The client
 * uses blocking and asynchronous stubs. As in the smaller application beside it, only the two marked lines know of Rackcall.
 */
package dev.rackcall.samples.grpc.routeguide;
