package dev.rackcall.rack;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program of the machine that is run to its end, within a bound. */
final class Program {
    private static final Duration BOUND = Duration.ofMinutes(5);
    private static final int SHOWN_CHARS = 400;

    private Program() {}

    /**
     * What it wrote to its standard output.
     *
     * @throws NotRunException if it cannot be started, fails, or takes longer than five minutes
     */
    static byte[] output(List<String> command, Path folder, byte[] input) throws NotRunException {
        try {
            return run(command, folder, input, true);
        } catch (IOException e) {
            throw new NotRunException(command.getFirst() + " cannot be run: " + e.getMessage(), e);
        }
    }

    /** As {@link #output}, of a program that reads nothing. */
    static String text(List<String> command, Path folder) throws NotRunException {
        return new String(output(command, folder, new byte[0]), StandardCharsets.UTF_8);
    }

    /** As {@link #output}, for programs that say by their status something about the end of their input. */
    static byte[] outputWhateverStatus(List<String> command, Path folder, byte[] input) throws NotRunException {
        try {
            return run(command, folder, input, false);
        } catch (IOException e) {
            throw new NotRunException(command.getFirst() + " cannot be run: " + e.getMessage(), e);
        }
    }

    private static byte[] run(List<String> command, Path folder, byte[] input, boolean mustSucceed)
            throws IOException, NotRunException {
        Path out = Files.createTempFile("rackcall-rack", ".out");
        Path err = Files.createTempFile("rackcall-rack", ".err");
        try {
            Process process = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
            try (OutputStream stdin = process.getOutputStream()) {
                stdin.write(input);
            } catch (IOException e) {
                // It has read as much as it wanted; its status says whether that was enough.
                assert !e.toString().isEmpty();
            }
            boolean ended = process.waitFor(BOUND.toSeconds(), TimeUnit.SECONDS);
            if (!ended) {
                process.destroyForcibly();
            }
            if (!ended || (mustSucceed && process.exitValue() != 0)) {
                throw new NotRunException(String.join(" ", command)
                        + (ended ? " failed: " : " did not end in " + BOUND.toMinutes() + " minutes: ")
                        + shown(err));
            }
            return Files.readAllBytes(out);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NotRunException("it was interrupted", e);
        } finally {
            Files.delete(out);
            Files.delete(err);
        }
    }

    private static String shown(Path err) throws IOException {
        try (InputStream in = Files.newInputStream(err)) {
            return new String(in.readNBytes(SHOWN_CHARS), StandardCharsets.UTF_8).strip();
        }
    }
}
