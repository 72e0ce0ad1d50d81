/**
 * The procedures of the targets that measure calls: round trips in turns, throughput, connections, idle processes and
 * start. Each asks the two processes of a {@link dev.rackcall.perf.harness.SubjectPair} for figures and makes results
 * of them. Elastic starts, locks and JMH have procedures of their own.
 */
package dev.rackcall.perf.targets;
