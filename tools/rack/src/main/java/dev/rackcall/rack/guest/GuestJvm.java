package dev.rackcall.rack.guest;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Another JVM of a guest, with this one's class path and flags. */
final class GuestJvm {
    /** For the child's report about its threads, and for jcmd. */
    private static final long DUMP_SECONDS = 20;
    /** Longer than any test or benchmark runs without output. */
    private static final Duration SILENCE = Duration.ofSeconds(80);

    private final Process process;
    private volatile long heardAt = System.nanoTime();

    private GuestJvm(Process process) {
        this.process = process;
    }

    /** Starts it. The given flags override this JVM's. */
    static GuestJvm start(List<String> flags, String main, List<String> arguments) throws IOException {
        return start(flags, "", main, arguments);
    }

    /** As {@link #start(List, String, List)}, with flags that the JVMs which it starts get, too. */
    static GuestJvm start(List<String> flags, String flagsForAll, String main, List<String> arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        if (!flagsForAll.isEmpty()) {
            builder.environment().put("JAVA_TOOL_OPTIONS", flagsForAll);
        }
        return new GuestJvm(builder.start());
    }

    Process process() {
        return process;
    }

    /**
     * Hands its output to the console and to {@code listener}, until it ends. A JVM that prints nothing for 80 s
     * reports where its threads are; after {@code bound} it is killed. The console of a guest that has ended then shows
     * the cause.
     *
     * @return its status
     */
    int await(Duration bound, Consumer<String> listener) throws IOException, InterruptedException {
        Thread watch = Thread.ofPlatform().daemon().name("child-watch").start(() -> watch(bound));
        try (BufferedReader output = process.inputReader()) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                heardAt = System.nanoTime();
                System.out.println(line);
                listener.accept(line);
            }
            return process.waitFor();
        } finally {
            watch.interrupt();
        }
    }

    private void watch(Duration bound) {
        long begin = System.nanoTime();
        try {
            boolean dumped = false;
            while (!process.waitFor(2, TimeUnit.SECONDS)) {
                long now = System.nanoTime();
                if (!dumped && now - heardAt > SILENCE.toNanos()) {
                    dumped = true;
                    dump("has printed nothing for " + SILENCE.toSeconds() + " s");
                }
                if (now - begin > bound.toNanos()) {
                    dump("did not end in " + bound.toSeconds() + " s and is killed");
                    process.destroyForcibly();
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The child prints its platform threads to its own output; only jcmd knows the virtual ones. */
    private void dump(String why) throws InterruptedException {
        String pid = Long.toString(process.pid());
        System.out.println("- process " + pid + " " + why + "; its threads:");
        run(List.of("bash", "-c", "kill -QUIT " + pid));
        Path file = Path.of("/tmp", "threads-" + pid);
        Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
        run(List.of(jcmd.toString(), pid, "Thread.dump_to_file", "-overwrite", file.toString()));
        try {
            System.out.println(Files.exists(file) ? Files.readString(file) : "- jcmd had no answer");
        } catch (IOException e) {
            System.out.println("- the output of jcmd cannot be read: " + e);
        }
    }

    private static void run(List<String> command) throws InterruptedException {
        try {
            Process program = new ProcessBuilder(command).inheritIO().start();
            if (!program.waitFor(DUMP_SECONDS, TimeUnit.SECONDS)) {
                program.destroyForcibly();
            }
        } catch (IOException e) {
            System.out.println("- " + command.getFirst() + " cannot be run: " + e.getMessage());
        }
    }
}
