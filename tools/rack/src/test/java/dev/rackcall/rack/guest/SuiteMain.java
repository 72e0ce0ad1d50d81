package dev.rackcall.rack.guest;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import dev.rackcall.rdma.RdmaSettings;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.ClassSelector;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs test classes of other modules in a guest: {@code SuiteMain [-DNAME=VALUE...] [+CLASS#METHOD...] CLASS...}. Ends
 * with a line SUITE OK and status 0, or with the failures and 1.
 *
 * <p>Tests with a {@code +} go first, and how they end does not count: they load the classes, which takes an emulated
 * processor longer than peers wait for each other. They run once more among all.
 */
public final class SuiteMain {
    private SuiteMain() {}

    public static void main(String[] args) {
        RdmaSettings.helloTimeout(Guest.BOUND);
        List<ClassSelector> selectors = new ArrayList<>();
        for (String arg : args) {
            if (arg.startsWith("-D")) {
                String[] setting = arg.substring(2).split("=", 2);
                System.setProperty(setting[0], setting[1]);
            } else if (arg.startsWith("+")) {
                System.out.println("- first, without counting: " + arg);
                execute(List.of(selectMethod(arg.substring(1))), new Progress());
            } else {
                selectors.add(selectClass(arg));
            }
        }
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        execute(selectors, listener, new Progress());
        TestExecutionSummary summary = listener.getSummary();
        summary.printFailuresTo(new PrintWriter(System.out, true, Charset.defaultCharset()), 4);
        long good = summary.getTestsSucceededCount();
        boolean fine = summary.getTotalFailureCount() == 0 && good > 0;
        System.out.println(
                "SUITE " + (fine ? "OK" : "FAILED") + ": " + good + " passed, " + summary.getTotalFailureCount()
                        + " failed, " + (summary.getTestsAbortedCount() + summary.getTestsSkippedCount()) + " skipped");
        System.exit(fine ? 0 : 1);
    }

    private static void execute(List<? extends DiscoverySelector> selectors, TestExecutionListener... listeners) {
        LauncherDiscoveryRequest tests = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectors)
                .configurationParameter("junit.jupiter.execution.timeout.threaddump.enabled", "true")
                .configurationParameter("junit.jupiter.execution.timeout.default", "180 s")
                .build();
        LauncherFactory.create().execute(tests, listeners);
    }

    /**
     * A line for each test, so that the console of a guest that is switched off says where the time went, and what
     * failed.
     */
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
                System.out.println("- " + result.getStatus() + " " + millis + " ms " + test.getLegacyReportingName()
                        + result.getThrowable().map(why -> ": " + why).orElse(""));
            }
        }
    }
}
