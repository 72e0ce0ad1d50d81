/**
 * How a thread waits for another process: it spins, spins and then sleeps, or sleeps at once. Strategies are only data.
 * The loops that use them are in the waiting code, so that the hot path stays in one method. Start with {@link
 * dev.rackcall.shm.waiting.WaitStrategy}.
 */
package dev.rackcall.shm.waiting;
