/**
 * Runs the races of the lock-free structures. Each race is a class beside the structure that it is about, in the same
 * package; this one runs them all and judges. Start at {@link dev.rackcall.stress.StressMain}.
 */
package dev.rackcall.stress;
