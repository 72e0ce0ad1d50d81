/**
 * The measured calls of Rackcall: {@link dev.rackcall.perf.calls.RackcallCall} calls the service {@code BenchCalls}
 * over any {@link dev.rackcall.perf.calls.BenchTransport}, by value, by pointer, or with a new connection for each
 * call. Start there. {@link dev.rackcall.perf.calls.ThreadedCalls} calls it from many threads.
 */
package dev.rackcall.perf.calls;
