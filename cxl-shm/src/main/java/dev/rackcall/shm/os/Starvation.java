package dev.rackcall.shm.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Whether a thread of this process wants to run and hardly gets a processor, as the kernel counts it (proc(5), {@code
 * stat} and {@code schedstat}). To the JVM, a Java thread that waits in a system call looks the same. For one watching
 * thread at a time. Reads two small files.
 */
public final class Starvation {
    private static final Path CURRENT_THREAD = Path.of("/proc/thread-self");

    /** The thread's folder. */
    private final Path thread;

    private long ranBefore;
    private long before = System.nanoTime();

    private Starvation(Path thread) {
        this.thread = thread;
    }

    /** Observes the thread with this folder in {@code /proc}. If the folder lacks the files, it reports no starvation. */
    public static Starvation of(Path thread) {
        return new Starvation(thread);
    }

    /** Observes the calling thread. Reports no starvation if the kernel does not say. */
    public static Starvation ofCurrentThread() {
        try {
            return new Starvation(CURRENT_THREAD.toRealPath());
        } catch (IOException e) {
            return new Starvation(CURRENT_THREAD.resolve("unknown"));
        }
    }

    /**
     * Whether the thread is runnable now, and has run for less than half the time since the previous call.
     *
     * @param now by {@link System#nanoTime}
     */
    public boolean lasts(long now) {
        try {
            long ran = Long.parseLong(read("schedstat").split(" ", 2)[0]);
            boolean hardlyRan = 2 * (ran - ranBefore) < now - before;
            ranBefore = ran;
            before = now;
            return hardlyRan && isRunnable(read("stat"));
        } catch (IOException | NumberFormatException e) {
            return false;
        }
    }

    private String read(String file) throws IOException {
        return Files.readString(thread.resolve(file));
    }

    /** The state comes after the thread's name, which may contain anything. */
    private static boolean isRunnable(String stat) {
        return stat.startsWith("R", stat.lastIndexOf(')') + 2);
    }
}
