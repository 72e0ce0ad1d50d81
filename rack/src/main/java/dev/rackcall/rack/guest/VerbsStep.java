package dev.rackcall.rack.guest;

import java.io.IOException;

/** The contract suite of module verbs over a real device. */
final class VerbsStep implements GuestStep {
    private static final String DEVICE = "rxe0";
    private static final String SUITE = "dev.rackcall.verbs.VerbsContractMain";

    @Override
    public String run(Guest guest) throws IOException, InterruptedException {
        return SuiteRun.of(SUITE, DEVICE).counts();
    }
}
