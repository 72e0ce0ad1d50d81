/**
 * Measures Rackcall and its peers side by side. Start with {@link dev.rackcall.perf.BenchCommand}.
 *
 * <p>A <em>subject</em> is one thing that is measured. The coordinator (the process of the command) starts a fresh JVM for the subject's
 * server side and one for its client side, so that no subject runs in code that the JIT compiled for another, and tells both what to do over
 * their standard input; {@code BenchChild} is what runs there. The loops ({@code ClosedLoop}, {@code FixedRateLoop},
 * {@code ThroughputLoop}) are the same for every subject.
 */
package dev.rackcall.perf;
