package dev.rackcall.rpc.surroundings;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The system calls of a process by thread, as strace(1) wrote them down.
 *
 * @param all in the order in which they began
 */
record SystemCalls(List<SystemCall> all) {
    /**
     * One of them.
     *
     * @param thread the first 15 characters of its name
     * @param micros when it began, in microseconds since 1970
     * @param name of the system call
     * @param arguments and its result, if it ended before another thread's began
     */
    record SystemCall(String thread, long micros, String name, String arguments) {}

    /** A time, in microseconds since 1970. */
    record Span(long begin, long end) {
        /** From the begin of the first to the end of the last. */
        static Span over(List<Span> spans) {
            return new Span(spans.getFirst().begin, spans.getLast().end);
        }

        private boolean contains(SystemCall call) {
            return begin <= call.micros && call.micros <= end;
        }
    }

    /** Ends of calls that were interrupted by others, signals, and exits have another form. */
    private static final Pattern LINE = Pattern.compile("\\d+<(.*?)> +(\\d+)\\.(\\d{6}) (\\w+)\\((.*)");
    /** The JVM stops its threads with a signal and a futex of its own. The project's futexes are not private. */
    private static final Pattern OF_THE_JVM = Pattern.compile("rt_sigreturn|futex .*_PRIVATE.*");

    /** A wait for events, by whichever system call the kernel has for it. */
    static final String EPOLL = "epoll";

    /** The command that traces the command after it. The traced process stays a child of the JVM that starts it. */
    static List<String> tracedTo(Path file) {
        return List.of("strace", "-D", "-f", "-Y", "-ttt", "-qq", "-o", file.toString());
    }

    /** Reads what the command wrote. */
    static SystemCalls read(Path file) throws IOException {
        try (Stream<String> lines = Files.lines(file)) {
            return new SystemCalls(lines.map(LINE::matcher)
                    .filter(Matcher::matches)
                    .map(line -> new SystemCall(
                            line.group(1),
                            Long.parseLong(line.group(2) + line.group(3)),
                            line.group(4).replaceFirst("epoll_p?wait2?", EPOLL),
                            line.group(5)))
                    .toList());
        }
    }

    /** Those of a thread in these times, without those of the JVM. */
    SystemCalls of(String thread, List<Span> times) {
        return new SystemCalls(all.stream()
                .filter(call -> call.thread.equals(thread))
                .filter(call -> times.stream().anyMatch(time -> time.contains(call)))
                .filter(call ->
                        !OF_THE_JVM.matcher(call.name + " " + call.arguments).matches())
                .toList());
    }

    /** How many there are of each name. */
    Map<String, Long> counts() {
        return all.stream().collect(Collectors.groupingBy(SystemCall::name, TreeMap::new, Collectors.counting()));
    }
}
