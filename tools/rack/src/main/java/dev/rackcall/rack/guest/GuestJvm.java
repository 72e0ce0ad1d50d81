package dev.rackcall.rack.guest;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Another JVM of a guest, with this one's class path and flags. */
final class GuestJvm {
    private final Process process;

    private GuestJvm(Process process) {
        this.process = process;
    }

    /** Starts it. Flags that are given count more than this JVM's. */
    static GuestJvm start(List<String> flags, String main, List<String> arguments) throws IOException {
        return start(flags, "", main, arguments);
    }

    /** As {@link #start(List, String, List)}, with flags for those JVMs that it starts, too. */
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
     * Hands what it says to the console and to {@code listener}, until it ends. Who is silent for so long has to say where its threads are, who runs for so long is killed.
     *
     * @return its status
     */
    int await(Duration silence, Duration bound, Consumer<String> listener) throws IOException, InterruptedException {
        try (ChildWatch watch = ChildWatch.over(process, silence, bound);
                BufferedReader output = process.inputReader()) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                watch.heard();
                System.out.println(line);
                listener.accept(line);
            }
            return process.waitFor();
        }
    }
}
