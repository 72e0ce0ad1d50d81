package dev.rackcall.rack.guest;

import dev.rackcall.rdma.RdmaSettings;
import java.util.Arrays;

/** The program of a guest: runs its steps one after the other and reports each result to the machine. */
public final class GuestMain {
    private GuestMain() {}

    /** {@code GuestMain NAME STEP,STEP,...} */
    public static void main(String[] args) {
        RdmaSettings.helloTimeout(Guest.BOUND);
        Guest guest = new Guest(args[0]);
        boolean good = true;
        for (String word : Arrays.asList(args[1].split(",", -1))) {
            Step step = Step.ofWord(word);
            good &= guest.take(step, workOf(step));
        }
        System.exit(good ? 0 : 1);
    }

    private static Guest.Work workOf(Step step) {
        return switch (step) {
            case ATOMICS -> new AtomicsStep();
            case MEMORY -> new MemoryStep();
            case RDMA -> new RdmaStep();
            case CALLS -> new CallsStep();
            case VERBS -> SuiteStep.VERBS;
            case KEYS -> new KeysStep();
            case REMOTE -> new RemoteStep();
            case PINGPONG -> new PingPongStep();
            case ALOCK -> new ALockStep();
            case DEMO -> new DemoStep();
            case CONNECT -> new ConnectStep();
            case DEATH -> new DeathStep();
            case CONTRACT -> SuiteStep.CONTRACT;
            case LOCKS -> SuiteStep.LOCKS;
            case CONTROL -> SuiteStep.CONTROL;
        };
    }
}
