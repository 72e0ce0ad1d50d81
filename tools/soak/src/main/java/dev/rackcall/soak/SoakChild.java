package dev.rackcall.soak;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * A process of a soak. It obeys its input line by line, answers each line with one that starts with {@code >}, and ends
 * with its input.
 */
abstract class SoakChild {
    /** The exit code of a process with a wrong answer, or another failure that no death explains. */
    static final int WRONG = 3;

    /** Ends this process at once; its parent reports it. */
    static void fail(Throwable wrong) {
        wrong.printStackTrace();
        Runtime.getRuntime().halt(WRONG);
    }

    /** Stops calling and gives back what calls used. Returns what the parent cannot see from outside. */
    abstract Map<String, Long> calm() throws Exception;

    /** Calls again. */
    void proceed() {}

    /** Another command. */
    void obey(String[] words) {
        throw new IllegalArgumentException(words[0]);
    }

    /** Leaves politely. */
    abstract void end() throws Exception;

    /** Says that it is ready, and obeys until its input ends. */
    final void run() {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            System.out.println("> ready");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ");
                switch (words[0]) {
                    case "calm" -> System.out.println("> " + said(calm()));
                    case "proceed" -> {
                        proceed();
                        System.out.println("> proceeds");
                    }
                    default -> {
                        obey(words);
                        System.out.println("> obeyed");
                    }
                }
            }
            end();
            Runtime.getRuntime().halt(0);
        } catch (Throwable t) {
            fail(t);
        }
    }

    private static String said(Map<String, Long> numbers) throws JMException {
        Map<String, Long> all = new TreeMap<>(numbers);
        // What finalizers and cleaners let go in the first collection is collected by the second.
        System.gc();
        System.gc();
        all.put(
                "heap-KiB",
                ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 10);
        // Gives what malloc keeps for later back to the system, so that a leak is not hidden in its noise.
        ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "systemTrimNativeHeap",
                        new Object[0],
                        new String[0]);
        StringBuilder text = new StringBuilder();
        all.forEach(
                (what, number) -> text.append(what).append('=').append(number).append(' '));
        return text.toString().strip();
    }
}
