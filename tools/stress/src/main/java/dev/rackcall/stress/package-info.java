/**
 * Runs the races of the lock-free structures. Each race is in the package of the structure that it races;
 * this package runs them all and judges the results. Start at {@link dev.rackcall.stress.StressMain}.
 */
package dev.rackcall.stress;
