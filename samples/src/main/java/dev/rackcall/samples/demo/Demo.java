package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.Report.Side;

/** Runs the store in several processes, by pointer and then by the usual means, and compares the results. */
public final class Demo {
    private Demo() {}

    /**
     * Runs the demo, which takes about a minute and leaves nothing behind.
     *
     * @throws DemoException if it fails; the message says why
     */
    public static Report run(DemoPlan plan, DemoProgress progress) {
        long start = System.nanoTime();
        Run pointer;
        Run serialised;
        Run grpc;
        Workplace workplace = Workplace.create();
        try (workplace) {
            pointer = Run.of(plan, StoreTransport.POINTER, workplace, progress);
            serialised = Run.of(plan, StoreTransport.SERIALISED, workplace, progress);
            grpc = Run.of(plan, StoreTransport.GRPC, workplace, progress);
        } finally {
            progress.end();
        }
        pointer.checkSame(serialised);
        pointer.checkSame(grpc);
        Side fast = pointer.side();
        return new Report(
                Report.Machine.here(),
                plan,
                fast,
                serialised.side(),
                grpc.side(),
                Report.SpeedUp.of(fast, serialised.side()),
                Report.SpeedUp.of(fast, grpc.side()),
                pointer.badLineCount(),
                pointer.badLines(),
                workplace.leftBehind(),
                (System.nanoTime() - start) / 1e9);
    }
}
