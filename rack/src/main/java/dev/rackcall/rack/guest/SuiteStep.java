package dev.rackcall.rack.guest;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Suites of other modules over the real device of one guest, to itself: both ends are in one process, as they are where the suites run over the software device. */
enum SuiteStep implements GuestStep {
    VERBS("dev.rackcall.verbs.VerbsContractMain", guest -> List.of(RdmaEnd.DEVICE, "ports")),
    /** The test finds in a property the address to use instead of loopback. */
    CONTRACT(
            SuiteRun.CLASSES,
            guest -> List.of(
                    "-Drackcall.rdma.host=" + guest.address(),
                    "-Drackcall.rdma.port=" + RdmaEnd.DEVICE,
                    "-Drackcall.contract.calls=" + (guest.isLong() ? 500 : 50),
                    "+dev.rackcall.rpc.RdmaCallContractTest#shouldRefuseNullsAtTheCaller",
                    "dev.rackcall.rpc.RdmaCallContractTest",
                    "dev.rackcall.rpc.RdmaSharedCallTest",
                    "dev.rackcall.rpc.RealPortCheck")),
    LOCKS(
            SuiteRun.CLASSES,
            guest -> List.of(
                    "-Drackcall.lock.device=" + RdmaEnd.DEVICE,
                    "dev.rackcall.rdma.lock.ALockTest",
                    "dev.rackcall.rdma.lock.ALockReaderTest",
                    "dev.rackcall.rdma.lock.LockBellTest")),
    CONTROL(
            SuiteRun.CLASSES,
            guest -> List.of(
                    "-Drackcall.cp.device=" + RdmaEnd.DEVICE,
                    "dev.rackcall.cp.PlainAgentTest",
                    "dev.rackcall.cp.ConnectedQueueTest",
                    "dev.rackcall.cp.ConnectedMessagePortTest"));

    private final String program;
    private final Function<Guest, List<String>> arguments;

    SuiteStep(String program, Function<Guest, List<String>> arguments) {
        this.program = program;
        this.arguments = arguments;
    }

    @Override
    public String run(Guest guest) throws Exception {
        List<String> given = new ArrayList<>(arguments.apply(guest));
        return SuiteRun.of(program, given.toArray(String[]::new)).counts();
    }
}
