/**
 * The target {@code crowd}: client processes that share the processors with their server, as on a user's machine.
 * {@code CrowdCase} lists what is measured, {@code Crowd} holds the processes, {@code CrowdRun} has the arithmetic of
 * one measurement, and {@link dev.rackcall.perf.crowd.CrowdTarget} runs them all in turns.
 */
package dev.rackcall.perf.crowd;
