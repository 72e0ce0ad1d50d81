package dev.rackcall.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The resources of this process that a connection, a server or a dead peer could leak: file descriptors by kind,
 * mappings of the project's memory, and the project's threads by name. The keys are texts, so that a difference
 * explains itself.
 */
public final class Usage {
    private Usage() {}

    /** Counts everything now. */
    public static Map<String, Integer> now() {
        Map<String, Integer> counts = new TreeMap<>();
        descriptors(counts);
        int mappings = (int) mappings("memfd:rackcall");
        if (mappings > 0) {
            counts.put("mapping", mappings);
        }
        for (Thread thread : threads()) {
            if (thread != null && thread.getName().startsWith("rackcall")) {
                count(counts, "thread " + thread.getName().replaceAll("[0-9]+$", "N"));
            }
        }
        return counts;
    }

    /** The growth since {@code before}. A decrease is no leak: an earlier connection may still have been closing. */
    public static Map<String, Integer> grownSince(Map<String, Integer> before) {
        Map<String, Integer> grown = new TreeMap<>();
        now().forEach((what, count) -> {
            int more = count - before.getOrDefault(what, 0);
            if (more > 0) {
                grown.put(what, more);
            }
        });
        return grown;
    }

    /** Descriptors of this process for files whose names contain {@code part}. */
    public static long descriptors(String part) {
        try (Stream<Path> fds = Files.list(Path.of("/proc/self/fd"))) {
            return fds.filter(fd -> target(fd).contains(part)).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Mappings of this process of files whose names contain {@code part}. */
    public static long mappings(String part) {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.contains(part)).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** All platform threads, and null. Other methods of the JDK also collect stack traces, which would cost more. */
    private static Thread[] threads() {
        ThreadGroup all = Thread.currentThread().getThreadGroup();
        while (all.getParent() != null) {
            all = all.getParent();
        }
        Thread[] threads = new Thread[2 * all.activeCount() + 100];
        all.enumerate(threads);
        return threads;
    }

    private static String target(Path fd) {
        try {
            return Files.readSymbolicLink(fd).toString();
        } catch (IOException e) {
            // Closed after the directory was read; its number may have been reused.
            return "";
        }
    }

    private static void descriptors(Map<String, Integer> counts) {
        try (Stream<Path> fds = Files.list(Path.of("/proc/self/fd"))) {
            fds.map(Usage::target).forEach(target -> {
                if (target.startsWith("/memfd:rackcall")) {
                    count(counts, "fd memory");
                } else if (target.startsWith("socket:")) {
                    count(counts, "fd socket");
                } else if (target.startsWith("anon_inode:")) {
                    count(counts, "fd " + target);
                } else if (target.endsWith(".lock")) {
                    count(counts, "fd lock");
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void count(Map<String, Integer> counts, String what) {
        counts.merge(what, 1, Integer::sum);
    }
}
