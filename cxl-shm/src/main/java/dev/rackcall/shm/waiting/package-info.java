/**
 * How a thread waits for another process: it spins, spins and then sleeps, or sleeps at once. Strategies are data; the
 * loops that use them are next to what they wait for, so that the hot path stays in one method. Start with {@link
 * dev.rackcall.shm.waiting.WaitStrategy}.
 */
package dev.rackcall.shm.waiting;
