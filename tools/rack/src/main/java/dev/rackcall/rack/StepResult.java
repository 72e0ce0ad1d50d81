package dev.rackcall.rack;

import dev.rackcall.rack.guest.Step;

/**
 * How one step went in one guest.
 *
 * @param ok whether it did what it should
 * @param seconds that it took; 0 if it did not end
 * @param text for people, one line
 */
record StepResult(Step step, String guest, boolean ok, double seconds, String text) {}
