package dev.rackcall.perf.harness;

import java.util.concurrent.locks.LockSupport;

/**
 * Calls that come rarely. The client sleeps before each, so that no side is awake because of the benchmark. A latency
 * counts from the call itself, since a sleeping thread wakes late.
 */
final class RareLoop {
    private RareLoop() {}

    /**
     * Makes this many calls.
     *
     * @param gapNanos from the start of one call to the next
     */
    static LatencyRecorder run(ClientSide client, long firstSequence, long gapNanos, int calls) throws Exception {
        LatencyRecorder recorder = new LatencyRecorder();
        long begin = System.nanoTime();
        for (int made = 0; made < calls; made++) {
            long due = begin + (made + 1) * gapNanos;
            for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            long start = System.nanoTime();
            client.call(firstSequence + made);
            recorder.record(System.nanoTime() - start);
        }
        recorder.add(calls, System.nanoTime() - begin);
        return recorder;
    }
}
