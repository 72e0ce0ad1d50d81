/**
 * Measures one {@link dev.rackcall.perf.harness.Subject} in JVMs of its own. A
 * {@link dev.rackcall.perf.harness.SubjectPair} starts a fresh JVM for the server side and one for the client side, so
 * no subject runs in code that the JIT compiled for another, and sends both their orders. The loops
 * ({@code ClosedLoop}, {@code FixedRateLoop}, {@code ThroughputLoop}) run in the client's JVM and are the same for
 * every subject.
 */
package dev.rackcall.perf.harness;
