/**
 * Micro-benchmarks of the parts of a call: allocator, Refs, fields, codec. JMH runs them; {@code rackcall bench jmh}
 * starts it.
 */
package dev.rackcall.perf.jmh;
