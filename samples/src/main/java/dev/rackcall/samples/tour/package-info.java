/**
 * Six small programs, each of which shows one thing: a call, shared objects, streams, asynchronous calls, isolation, and a directory with RDMA.
 * Each starts a server and a client in one process and prints what happens; {@code ./rackcall demo sample NAME} runs one of them.
 * Start with {@link dev.rackcall.samples.tour.Call}.
 */
package dev.rackcall.samples.tour;
