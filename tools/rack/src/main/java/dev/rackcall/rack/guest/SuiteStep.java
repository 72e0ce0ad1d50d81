package dev.rackcall.rack.guest;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

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
                    "dev.rackcall.cp.ConnectedMessagePortTest"));

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

    /** Of agents of the suite's process: others would be two more JVMs on one emulated processor. */
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
        List<String> given = new ArrayList<>(arguments.apply(guest));
        return SuiteRun.of(program, given.toArray(String[]::new)).counts();
    }
}
