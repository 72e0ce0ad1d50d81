package dev.rackcall.cp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A process that prints the address and key of a region of its own and is to be killed; killed when closed. */
public record Child(Process process, long address, int key) implements AutoCloseable {
    public static Child start(Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader out =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String line = out.readLine();
        assertThat(line).as("what the child says").isNotNull();
        String[] words = line.split(" ");
        return new Child(process, Long.parseLong(words[0]), Integer.parseInt(words[1]));
    }

    /** Stops all its threads; returns when they stand. */
    public void stop() throws IOException, InterruptedException {
        signal("STOP");
        Hosts.waitUntil("the child to stand still", this::standsStill);
    }

    /** Has it go on. */
    public void goOn() throws IOException, InterruptedException {
        signal("CONT");
    }

    /** By the name that kill(1) knows the signal by. */
    private void signal(String name) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .inheritIO()
                .start();
        assertThat(kill.waitFor()).isZero();
    }

    /** A signal has been sent before it is taken, and then each thread stops by itself. */
    private boolean standsStill() {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(process.pid()), "task"))) {
            return threads.allMatch(Child::isStopped);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isStopped(Path thread) {
        try {
            String stat = Files.readString(thread.resolve("stat"));
            // Behind the name, which stands in brackets.
            return stat.charAt(stat.lastIndexOf(')') + 2) == 'T';
        } catch (IOException e) {
            // It has ended since it was listed.
            return false;
        }
    }

    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }
}
