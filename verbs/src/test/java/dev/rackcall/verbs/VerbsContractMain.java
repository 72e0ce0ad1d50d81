package dev.rackcall.verbs;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import java.nio.charset.Charset;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs the contract suite from a plain java command, for machines without Maven:
 * {@code java -cp ... VerbsContractMain [device [ports]]}; with {@code ports} the network interface of a real device is
 * taken down and brought up again. Ends with status 0 and a line VERBS CONTRACT OK, or with 1 and the failures.
 */
public final class VerbsContractMain {
    private VerbsContractMain() {}

    public static void main(String[] arguments) {
        if (arguments.length > 0) {
            System.setProperty("rackcall.verbs.device", arguments[0]);
        }
        if (arguments.length > 1 && arguments[1].equals("ports")) {
            System.setProperty("rackcall.verbs.ports", "true");
        }
        LauncherDiscoveryRequest suite = LauncherDiscoveryRequestBuilder.request()
                .selectors(
                        selectClass(ReliableContractTest.class),
                        selectClass(ReliableErrorContractTest.class),
                        selectClass(DatagramContractTest.class),
                        selectClass(CompletionContractTest.class),
                        selectClass(DynamicContractTest.class),
                        // Last, because it disturbs the network.
                        selectClass(PortContractTest.class))
                .build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(suite, listener);
        TestExecutionSummary summary = listener.getSummary();
        summary.printFailuresTo(new PrintWriter(System.out, true, Charset.defaultCharset()), 4);
        long good = summary.getTestsSucceededCount();
        boolean fine = summary.getTotalFailureCount() == 0 && good > 0;
        System.out.println("VERBS CONTRACT " + (fine ? "OK" : "FAILED") + ": " + good + " passed, "
                + summary.getTotalFailureCount() + " failed, " + summary.getTestsAbortedCount() + " skipped");
        System.exit(fine ? 0 : 1);
    }
}
