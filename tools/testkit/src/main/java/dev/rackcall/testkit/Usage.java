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
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            maps.filter(line -> line.contains("memfd:rackcall")).forEach(line -> count(counts, "mapping"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("rackcall")) {
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

    private static void descriptors(Map<String, Integer> counts) {
        try (Stream<Path> fds = Files.list(Path.of("/proc/self/fd"))) {
            fds.forEach(fd -> {
                try {
                    String target = Files.readSymbolicLink(fd).toString();
                    if (target.startsWith("/memfd:rackcall")) {
                        count(counts, "fd memory");
                    } else if (target.startsWith("socket:")) {
                        count(counts, "fd socket");
                    } else if (target.startsWith("anon_inode:")) {
                        count(counts, "fd " + target);
                    } else if (target.endsWith(".lock")) {
                        count(counts, "fd lock");
                    }
                } catch (IOException e) {
                    // Closed after the directory was read; its number may have been reused.
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
