package dev.rackcall.rack.guest;

/** The work of a guest in a {@link Step}. */
@FunctionalInterface
interface GuestStep {
    /**
     * Does the work.
     *
     * @return a summary in one line
     * @throws Exception if the step failed
     */
    String run(Guest guest) throws Exception;

    /** By step. */
    static GuestStep of(Step step) {
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
