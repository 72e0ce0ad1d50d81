package dev.rackcall.rack.guest;

import java.io.IOException;

/** The contract suite of calls over the real device of one guest, to itself: both ends are in one process, as they are where the suite runs over the software device. */
final class ContractStep implements GuestStep {
    private static final String SUITE = "dev.rackcall.rack.guest.SuiteMain";
    /** In which the test finds the address to use instead of loopback. */
    private static final String HOST = "-Drackcall.rdma.host=";

    @Override
    public String run(Guest guest) throws IOException, InterruptedException {
        return SuiteRun.of(SUITE, HOST + guest.address(), "dev.rackcall.rpc.RdmaCallContractTest")
                .counts();
    }
}
