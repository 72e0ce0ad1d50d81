package dev.rackcall.grpc;

/** The same contract over the software device. */
class RemoteTransportContractTest extends TransportContractTest {
    @Override
    boolean isRemote() {
        return true;
    }
}
