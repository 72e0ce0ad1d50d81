package dev.rackcall.rack.guest;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Suites of other modules over the real device of one guest, to itself: both ends are in one process, as they are where
 * the suites run over the software device.
 */
enum SuiteStep implements Guest.Work {
    VERBS("dev.rackcall.verbs.VerbsContractMain", guest -> List.of(RdmaEnd.DEVICE, "ports")),
    /** By queue pairs in one guest, by virtual queues in the other. */
    CONTRACT(SuiteRun.CLASSES, guest -> guest.name().equals("B") ? byQueuePairs(guest) : byVirtualQueues(guest)),
    LOCKS(
            SuiteRun.CLASSES,
            guest -> List.of(
                    "-Drackcall.lock.device=" + RdmaEnd.DEVICE,
                    "dev.rackcall.lock.ALockTest",
                    "dev.rackcall.lock.ALockReaderTest",
                    "dev.rackcall.lock.LockBellTest")),
    CONTROL(
            SuiteRun.CLASSES,
            guest -> List.of(
                    "-Drackcall.cp.device=" + RdmaEnd.DEVICE,
                    "dev.rackcall.cp.agent.PlainAgentTest",
                    "dev.rackcall.cp.ConnectedQueueTest",
                    "dev.rackcall.cp.ConnectedMessagePortTest")),
    KEYS(
            SuiteRun.CLASSES,
            guest ->
                    List.of("dev.rackcall.sandbox.ProtectionKeysTest", "dev.rackcall.rpc.isolation.ProtectedCallTest"));

    private final String program;
    private final Function<Guest, List<String>> arguments;

    SuiteStep(String program, Function<Guest, List<String>> arguments) {
        this.program = program;
        this.arguments = arguments;
    }

    /** The tests find in a property the address to use instead of loopback. */
    private static List<String> byQueuePairs(Guest guest) {
        return List.of(
                "-Drackcall.rdma.host=" + guest.address(),
                "-Drackcall.rdma.port=" + RdmaEnd.DEVICE,
                calls(guest),
                "+dev.rackcall.rdma.RdmaCallContractTest#shouldRefuseNullsAtTheCaller",
                "dev.rackcall.rdma.RdmaCallContractTest",
                "dev.rackcall.rdma.RdmaSharedCallTest",
                "dev.rackcall.rdma.RealPortCheck");
    }

    /** Over agents in the suite's process: separate agents would be two more JVMs on one emulated processor. */
    private static List<String> byVirtualQueues(Guest guest) {
        return List.of(
                "-Drackcall.queue.device=" + RdmaEnd.DEVICE,
                calls(guest),
                "+dev.rackcall.rdma.QueueCallContractTest#shouldRefuseNullsAtTheCaller",
                "dev.rackcall.rdma.QueueCallContractTest",
                "dev.rackcall.rdma.QueueSharedCallTest");
    }

    private static String calls(Guest guest) {
        return "-Drackcall.contract.calls=" + (guest.isLong() ? 500 : 50);
    }

    @Override
    public String run(Guest guest) throws Exception {
        return SuiteRun.of(program, arguments.apply(guest));
    }

    /**
     * A suite in a JVM of its own, because its program ends the JVM. Its last line has the number of tests.
     */
    static final class SuiteRun {
        /** Runs test classes by name. */
        static final String CLASSES = "dev.rackcall.rack.guest.SuiteMain";

        private static final Duration BOUND = Duration.ofMinutes(30);
        private static final Pattern COUNTS = Pattern.compile(
                "(VERBS CONTRACT|SUITE) (?<verdict>OK|FAILED): (?<counts>\\d+ passed, \\d+ failed, \\d+ skipped)");

        /** As in {@code 48 passed, 0 failed, 4 skipped}. */
        private String counts = "";

        private boolean good;

        private SuiteRun() {}

        /** @throws IllegalStateException unless all of its tests are good */
        static String of(String main, List<String> arguments) throws IOException, InterruptedException {
            SuiteRun run = new SuiteRun();
            int status = GuestJvm.start(List.of(), main, arguments).await(BOUND, run::listen);
            Guest.require(
                    run.good && status == 0,
                    run.counts.isEmpty()
                            ? "the suite ended with status " + status + " and did not say how it went"
                            : run.counts);
            return run.counts;
        }

        private void listen(String line) {
            Matcher matcher = COUNTS.matcher(line);
            if (matcher.find()) {
                counts = matcher.group("counts");
                good = matcher.group("verdict").equals("OK");
            }
        }
    }
}
