package dev.rackcall.rack.guest;

import java.io.IOException;

/** What is behind protection keys, on QEMU's processor, which has them: most machines that build this project have not, and skip these tests. */
final class KeysStep implements GuestStep {
    private static final String SUITE = "dev.rackcall.rack.guest.SuiteMain";

    @Override
    public String run(Guest guest) throws IOException, InterruptedException {
        return SuiteRun.of(SUITE, "dev.rackcall.sandbox.ProtectionKeysTest", "dev.rackcall.rpc.ProtectedCallTest")
                .counts();
    }
}
