package dev.rackcall.samples.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * The folder of one run of the demo, for sockets and lock files, and its processes. Both are removed by {@link #close},
 * or when this JVM ends before that, as on Ctrl-C. Thread-safe.
 */
final class Workplace implements AutoCloseable {
    /** The prefix of the folder's name. */
    private static final String PREFIX =
            "rackcall-demo-" + ProcessHandle.current().pid() + "-";

    private static final long END_SECONDS = 5;

    private final Path directory;
    private final List<Process> processes = new ArrayList<>();
    private final Thread hook = Thread.ofPlatform().unstarted(this::endAndDelete);
    private volatile boolean closing;

    private Workplace(Path directory) {
        this.directory = directory;
    }

    static Workplace create() {
        try {
            Workplace workplace = new Workplace(Files.createTempDirectory(PREFIX));
            Runtime.getRuntime().addShutdownHook(workplace.hook);
            return workplace;
        } catch (IOException e) {
            throw new DemoException(
                    "no directory can be made in " + System.getProperty("java.io.tmpdir") + " (" + e
                            + "); choose another with -Djava.io.tmpdir in JDK_JAVA_OPTIONS",
                    e);
        }
    }

    Path directory() {
        return directory;
    }

    synchronized void add(Process process) {
        if (closing) {
            process.destroyForcibly();
        }
        processes.add(process);
    }

    /** On Ctrl-C the processes end first; the caller's thread then waits silently for the end of the JVM. */
    void parkIfClosing() {
        while (closing) {
            LockSupport.park();
        }
    }

    @Override
    public void close() {
        endAndDelete();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is ending, and the hook does the same.
        }
    }

    private synchronized void endAndDelete() {
        closing = true;
        processes.forEach(Process::destroyForcibly);
        processes.forEach(process -> process.onExit()
                .completeOnTimeout(process, END_SECONDS, TimeUnit.SECONDS)
                .join());
        try {
            delete(directory);
        } catch (IOException e) {
            System.err.println(directory + " is left behind: " + e);
        }
    }

    /**
     * Processes and files that remain after {@link #close}. The demo's shared memory has no names and ends with the
     * processes.
     */
    synchronized List<String> leftBehind() {
        List<String> left = new ArrayList<>();
        processes.stream().filter(Process::isAlive).forEach(process -> left.add("process " + process.pid()));
        if (Files.exists(directory)) {
            left.add(directory.toString());
        }
        return left;
    }

    /** Deletes a directory with its content. Another process may delete it at the same moment. */
    static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException e) {
            // It no longer exists.
        } catch (UncheckedIOException e) {
            if (!(e.getCause() instanceof NoSuchFileException)) {
                throw e.getCause();
            }
            delete(directory);
        }
    }
}
