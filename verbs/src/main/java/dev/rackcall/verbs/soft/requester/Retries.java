package dev.rackcall.verbs.soft.requester;

import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.soft.wire.Refusal;

/** The retries and timeouts of a requester. Guarded by the queue pair's monitor. */
final class Retries {
    /**
     * Pauses of the receiver-not-ready timer by code, in units of 10 us (InfiniBand specification, RNR NAK timer
     * field).
     */
    private static final int[] RNR_PAUSES = {
        65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096,
        6144, 8192, 12288, 16384, 24576, 32768, 49152
    };

    private static final long RNR_UNIT_NANOS = 10_000;
    private static final long TIMEOUT_UNIT_NANOS = 4096;
    /** A requester may wait up to four times its timeout (InfiniBand specification, transport timer). */
    private static final long SLACK = 4;

    private int limit;
    private int rnrLimit;
    private int left;
    private int rnrLeft;
    private int timeout;
    private boolean paused;

    void start(ReadyToSend attributes) {
        limit = attributes.retries();
        rnrLimit = attributes.rnrRetries();
        timeout = attributes.timeout();
        paused = false;
        succeeded();
    }

    void succeeded() {
        left = limit;
        rnrLeft = rnrLimit;
    }

    boolean isPaused() {
        return paused;
    }

    void resume() {
        paused = false;
    }

    /** Nanoseconds to wait before the next retry; negative if no retry is left. */
    long pause(Refusal refusal, long detail) {
        long nanos;
        if (refusal == Refusal.NOT_READY_TO_RECEIVE) {
            if (rnrLimit != ReadyToSend.RNR_FOR_EVER && rnrLeft-- == 0) {
                return -1;
            }
            nanos = RNR_PAUSES[(int) (detail & 31)] * RNR_UNIT_NANOS;
        } else {
            if (left-- == 0) {
                return -1;
            }
            nanos = TIMEOUT_UNIT_NANOS << timeout;
        }
        paused = true;
        return nanos;
    }

    /** Nanoseconds of silence after which requests fail. */
    long patience() {
        return timeout == 0 ? Long.MAX_VALUE : (TIMEOUT_UNIT_NANOS << timeout) * SLACK * (limit + 1);
    }
}
