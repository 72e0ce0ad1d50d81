package dev.rackcall.cp.client;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;

/**
 * Messages to an agent process that had no room, retried in order, so that closing never waits. Any thread may use it.
 */
final class Unsent {
    private final Deque<BooleanSupplier> waiting = new ArrayDeque<>();

    /**
     * Sends a message now if there is room, otherwise later.
     *
     * @param word sends the message without waiting; returns false if there is no room
     */
    synchronized void say(BooleanSupplier word) {
        if (!sayAll() || !word.getAsBoolean()) {
            waiting.add(word);
        }
    }

    synchronized boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Sends what there is room for; returns whether nothing is left. */
    synchronized boolean sayAll() {
        while (!waiting.isEmpty() && waiting.peek().getAsBoolean()) {
            waiting.poll();
        }
        return waiting.isEmpty();
    }
}
