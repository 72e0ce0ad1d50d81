/**
 * How a thread waits for another process: spinning, spinning and then sleeping, or sleeping at once.
 * The strategies are data; the loops that follow them live with what they wait for, so that the hot path stays in one method.
 * Start with {@link dev.rackcall.shm.waiting.WaitStrategy}.
 */
package dev.rackcall.shm.waiting;
