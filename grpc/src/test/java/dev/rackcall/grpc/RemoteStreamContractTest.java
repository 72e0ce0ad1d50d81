package dev.rackcall.grpc;

/** The same contract over the software device. */
class RemoteStreamContractTest extends StreamContractTest {
    @Override
    boolean isRemote() {
        return true;
    }
}
