package dev.rackcall.rack.guest;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.ClassSelector;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs test classes of other modules in a guest: {@code SuiteMain [-DNAME=VALUE...] CLASS...}. Ends with a line SUITE OK and status 0, or with the failures and 1. */
public final class SuiteMain {
    private SuiteMain() {}

    public static void main(String[] args) {
        List<ClassSelector> selectors = new ArrayList<>();
        for (String arg : args) {
            if (arg.startsWith("-D")) {
                String[] setting = arg.substring(2).split("=", 2);
                System.setProperty(setting[0], setting[1]);
            } else {
                selectors.add(selectClass(arg));
            }
        }
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectors)
                                .configurationParameter("junit.jupiter.execution.timeout.threaddump.enabled", "true")
                                .build(),
                        listener,
                        new Progress());
        TestExecutionSummary summary = listener.getSummary();
        summary.printFailuresTo(new PrintWriter(System.out, true, Charset.defaultCharset()), 4);
        long good = summary.getTestsSucceededCount();
        boolean fine = summary.getTotalFailureCount() == 0 && good > 0;
        System.out.println(
                "SUITE " + (fine ? "OK" : "FAILED") + ": " + good + " passed, " + summary.getTotalFailureCount()
                        + " failed, " + (summary.getTestsAbortedCount() + summary.getTestsSkippedCount()) + " skipped");
        System.exit(fine ? 0 : 1);
    }

    /** A line for each test, so that the console of a guest that is switched off says where the time went. */
    private static final class Progress implements TestExecutionListener {
        private final Map<String, Long> begun = new ConcurrentHashMap<>();

        @Override
        public void executionStarted(TestIdentifier test) {
            begun.put(test.getUniqueId(), System.nanoTime());
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (test.isTest()) {
                long millis = (System.nanoTime() - begun.get(test.getUniqueId())) / 1_000_000;
                System.out.println("- " + result.getStatus() + " " + millis + " ms " + test.getLegacyReportingName());
            }
        }
    }
}
