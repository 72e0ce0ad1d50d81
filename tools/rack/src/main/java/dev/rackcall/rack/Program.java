package dev.rackcall.rack;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/** A program of the machine that is run to its end, within twenty minutes. */
final class Program {
    private static final String BOUND_SECONDS = "1200";
    private static final int SHOWN_LINES = 5;

    private Program() {}

    /**
     * Runs it; it reads nothing.
     *
     * @param listener receives each line of its standard output and standard error
     * @throws NotRunException if it cannot be started, fails, or takes longer
     */
    static void run(List<String> command, Path folder, Consumer<String> listener) throws NotRunException {
        List<String> bounded = new ArrayList<>(List.of("timeout", BOUND_SECONDS));
        bounded.addAll(command);
        Deque<String> last = new ArrayDeque<>();
        try {
            Process process = new ProcessBuilder(bounded)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            try (BufferedReader output = process.inputReader()) {
                for (String line = output.readLine(); line != null; line = output.readLine()) {
                    listener.accept(line);
                    last.addLast(line);
                    if (last.size() > SHOWN_LINES) {
                        last.removeFirst();
                    }
                }
            }
            if (process.waitFor() != 0) {
                throw new NotRunException(String.join(" ", command) + " failed with status " + process.exitValue()
                        + ": " + String.join("; ", last));
            }
        } catch (IOException e) {
            throw new NotRunException(command.getFirst() + " cannot be run: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NotRunException("it was interrupted", e);
        }
    }
}
