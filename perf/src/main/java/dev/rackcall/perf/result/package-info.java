/**
 * What a run of the benchmark finds: one {@link dev.rackcall.perf.result.Result} for each subject, target and depth,
 * and the {@link dev.rackcall.perf.result.BenchOutcome} that holds them all and is written as JSON. A
 * {@link dev.rackcall.perf.result.BenchTarget} names what can be measured and the columns of its table. A
 * {@link dev.rackcall.perf.result.BenchReport} puts the papers' numbers and an earlier run beside it. Nothing here
 * measures or prints.
 */
package dev.rackcall.perf.result;
