package dev.rackcall.cp.client;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;

/** What an agent process is to be told and nobody waits for, since who closes something must not: what finds no room is told later, in its order. Any thread may use it. */
final class Unsent {
    private final Deque<BooleanSupplier> waiting = new ArrayDeque<>();

    /**
     * Tells it now if there is room.
     *
     * @param word tells it, without waiting for anybody; false if there is no room
     */
    synchronized void say(BooleanSupplier word) {
        if (!sayAll() || !word.getAsBoolean()) {
            waiting.add(word);
        }
    }

    synchronized boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Tells what there is room for now; returns whether that was all. */
    synchronized boolean sayAll() {
        while (!waiting.isEmpty() && waiting.peek().getAsBoolean()) {
            waiting.poll();
        }
        return waiting.isEmpty();
    }
}
