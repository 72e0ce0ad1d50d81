package dev.rackcall.rack.guest;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.List;
import org.junit.platform.engine.discovery.ClassSelector;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs test classes of other modules in a guest: {@code SuiteMain CLASS...}. Ends with a line SUITE OK and status 0, or with the failures and 1. */
public final class SuiteMain {
    private SuiteMain() {}

    public static void main(String[] classes) {
        List<ClassSelector> selectors =
                Arrays.stream(classes).map(name -> selectClass(name)).toList();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectors)
                                .build(),
                        listener);
        TestExecutionSummary summary = listener.getSummary();
        summary.printFailuresTo(new PrintWriter(System.out, true, Charset.defaultCharset()), 4);
        long good = summary.getTestsSucceededCount();
        boolean fine = summary.getTotalFailureCount() == 0 && good > 0;
        System.out.println(
                "SUITE " + (fine ? "OK" : "FAILED") + ": " + good + " passed, " + summary.getTotalFailureCount()
                        + " failed, " + (summary.getTestsAbortedCount() + summary.getTestsSkippedCount()) + " skipped");
        System.exit(fine ? 0 : 1);
    }
}
