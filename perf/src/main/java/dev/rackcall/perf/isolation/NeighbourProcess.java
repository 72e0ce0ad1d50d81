package dev.rackcall.perf.isolation;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Semaphore;

/**
 * A process beside the measured ones: repeats its action between the lines {@code go} and {@code pause} on its standard
 * input, and ends with the input.
 */
abstract class NeighbourProcess {
    static final String GO = "go";

    private final Semaphore turn = new Semaphore(0);
    private volatile boolean wanted;

    /** The action, of some milliseconds at most. */
    abstract void once() throws Exception;

    /** Whether it is its turn. */
    final boolean isWanted() {
        return wanted;
    }

    final void run() throws Exception {
        Thread.ofPlatform().daemon().name("bench-neighbour").start(this::listen);
        while (true) {
            turn.acquire();
            while (wanted) {
                once();
            }
        }
    }

    private void listen() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                boolean go = line.equals(GO);
                if (go && !wanted) {
                    wanted = true;
                    turn.release();
                } else if (!go) {
                    wanted = false;
                }
            }
        } catch (IOException e) {
            System.err.println("a neighbour's input broke: " + e.getMessage());
        }
        // Not exit(): it must not outlive its parent, whatever it is doing.
        Runtime.getRuntime().halt(0);
    }
}
