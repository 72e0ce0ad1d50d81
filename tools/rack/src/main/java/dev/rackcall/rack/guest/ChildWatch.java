package dev.rackcall.rack.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Watches a JVM that a step has started. One that is silent for long, or runs for too long, has to say where its threads are, so that whoever reads the console of a
 * guest that is long gone knows why; after its bound it is killed.
 */
final class ChildWatch implements AutoCloseable {
    private static final long LOOK_SECONDS = 2;
    /** For what the child says about its threads, and for jcmd. */
    private static final long DUMP_SECONDS = 20;

    private final Process child;
    private final Duration silence;
    private final Duration bound;
    private final Thread thread;
    private volatile long heardAt = System.nanoTime();

    private ChildWatch(Process child, Duration silence, Duration bound) {
        this.child = child;
        this.silence = silence;
        this.bound = bound;
        this.thread = new Thread(this::watch, "child-watch");
        thread.setDaemon(true);
    }

    static ChildWatch over(Process child, Duration silence, Duration bound) {
        ChildWatch watch = new ChildWatch(child, silence, bound);
        watch.thread.start();
        return watch;
    }

    /** The child has said something. */
    void heard() {
        heardAt = System.nanoTime();
    }

    private void watch() {
        long begin = System.nanoTime();
        try {
            boolean dumped = false;
            while (!child.waitFor(LOOK_SECONDS, TimeUnit.SECONDS)) {
                long now = System.nanoTime();
                if (!dumped && now - heardAt > silence.toNanos()) {
                    dumped = true;
                    dump("has said nothing for " + silence.toSeconds() + " s");
                }
                if (now - begin > bound.toNanos()) {
                    dump("did not end in " + bound.toSeconds() + " s and is killed");
                    child.destroyForcibly();
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What it says of threads of the platform comes by its own output; of virtual ones only jcmd knows. */
    private void dump(String why) throws InterruptedException {
        System.out.println("- process " + child.pid() + " " + why + "; its threads:");
        run(List.of("bash", "-c", "kill -QUIT " + child.pid()));
        Path file = Path.of("/tmp", "threads-" + child.pid());
        Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
        run(List.of(jcmd.toString(), Long.toString(child.pid()), "Thread.dump_to_file", "-overwrite", file.toString()));
        try {
            System.out.println(Files.exists(file) ? Files.readString(file) : "- jcmd had no answer");
        } catch (IOException e) {
            System.out.println("- what jcmd has written cannot be read: " + e);
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

    @Override
    public void close() {
        thread.interrupt();
    }
}
