package dev.rackcall.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What the kernel says that a process has: descriptors by kind, mappings of shared memory, threads by name, and resident
 * memory. Nothing in the process takes part in it. Numbers whose names end in {@code KiB} are memory.
 */
final class ProcessSample {
    /**
     * What the JVM of an unchanging program may gain beside its heap, which is resident from the start: code that is
     * compiled late, metadata, and pages of malloc that are only partly free. A soak of 20 seconds, whose warm-up takes
     * 5, gained up to 4,064. A leak of one page per connection exceeds it after 2,048 connections.
     */
    private static final long PRIVATE_KIB = 8_192;
    /** What a full heap collection may find more of: a few caches by key, whose entries are some ten KiB. */
    private static final long HEAP_KIB = 1_024;
    /**
     * A channel's shared arena keeps the pages that were in use at once at some moment: two for each of the chains that
     * the callers of a moment share. The connections of the survivors are closed when they are sampled, so theirs are
     * not among them.
     */
    private static final long SHARED_KIB = 256;
    /** Pages that each of the four arenas of a server's own channel to a pool may keep for the next allocation. */
    private static final long POOL_KIB = 4L * 4 * 4;

    private ProcessSample() {}

    /** Samples a living process. */
    static Map<String, Long> of(long pid) throws IOException {
        Path process = Path.of("/proc/" + pid);
        Map<String, Long> sample = new TreeMap<>();
        try (Stream<Path> descriptors = Files.list(process.resolve("fd"))) {
            descriptors.forEach(each -> count(sample, "descriptors of " + kind(each)));
        }
        try (Stream<Path> tasks = Files.list(process.resolve("task"))) {
            tasks.forEach(each -> count(sample, "threads " + name(each)));
        }
        // Carriers and timers of the JDK come and go with the load; their number has the processors' as a bound.
        sample.keySet().removeIf(what -> what.startsWith("threads ForkJoinPool"));
        try (Stream<String> mappings = Files.lines(process.resolve("maps"))) {
            sample.put(
                    "mappings of shared memory",
                    mappings.filter(line -> line.contains("/memfd:") || line.contains("/dev/shm/"))
                            .count());
        }
        for (String line : Files.readAllLines(process.resolve("status"))) {
            if (line.startsWith("RssAnon:")) {
                sample.put("private KiB", kib(line));
            } else if (line.startsWith("RssShmem:")) {
                sample.put("shared KiB", kib(line));
            }
        }
        return sample;
    }

    /** What has grown by more than it may. */
    static Map<String, Long> grown(Map<String, Long> before, Map<String, Long> now) {
        Map<String, Long> grown = new TreeMap<>();
        now.forEach((what, number) -> {
            long more = number - before.getOrDefault(what, 0L);
            if (more > mayGrow(what)) {
                grown.put(what, more);
            }
        });
        return grown;
    }

    private static long mayGrow(String what) {
        return switch (what) {
            case "private KiB" -> PRIVATE_KIB;
            case "heap-KiB" -> HEAP_KIB;
            case "shared KiB" -> SHARED_KIB;
            case "pool-KiB" -> POOL_KIB;
            default -> 0;
        };
    }

    private static void count(Map<String, Long> sample, String what) {
        sample.merge(what, 1L, Long::sum);
    }

    private static String kind(Path descriptor) {
        try {
            String target = Files.readSymbolicLink(descriptor).toString();
            return target.startsWith("/memfd:")
                    ? "memory"
                    : target.startsWith("/") ? "files" : target.replaceAll(":\\[\\d+]", "");
        } catch (IOException e) {
            return "closing";
        }
    }

    private static String name(Path task) {
        try {
            return Files.readString(task.resolve("comm")).strip().replaceAll("[0-9]+", "N");
        } catch (IOException e) {
            return "ending";
        }
    }

    private static long kib(String line) {
        return Long.parseLong(line.replaceAll("\\D", ""));
    }

    /** The number of files in a folder and below. */
    static long files(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.count();
        }
    }

    /** The names of these numbers that describe a process. The others are counters. */
    static final List<String> REPORTED = List.of("heap-KiB", "pool-KiB", "connections", "tenants");
}
