/**
 * {@code rackcall bench}: measures Rackcall and its alternatives side by side. Start with
 * {@link dev.rackcall.perf.BenchCommand}, which selects among {@code Subjects} and hands them to the procedures of the
 * chosen targets. {@link dev.rackcall.perf.harness} runs a subject in JVMs of its own, {@link dev.rackcall.perf.result}
 * holds the figures, and {@link dev.rackcall.perf.report} prints them; the other packages have the subjects.
 */
package dev.rackcall.perf;
