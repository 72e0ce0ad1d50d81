/**
 * The target {@code rare}: calls with pauses between them, so that both sides sleep and have to be woken.
 * {@link dev.rackcall.perf.rare.RareTarget} measures them, and {@code CompiledPingPong} is the floor in C.
 */
package dev.rackcall.perf.rare;
