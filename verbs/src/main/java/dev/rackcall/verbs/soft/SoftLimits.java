package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.DeviceAttributes;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;

/** What the software device can do. */
final class SoftLimits {
    static final int MAX_QUEUE_PAIRS = 1 << 16;
    static final int MAX_MEMORY_REGIONS = 1 << 16;
    static final int MAX_WORK_REQUESTS = 1 << 14;
    static final int MAX_SEGMENTS = 32;
    static final int MAX_INLINE = 1024;
    static final int MAX_COMPLETIONS = 1 << 20;
    static final int MAX_READ_ATOMIC = 128;
    static final long MAX_MESSAGE_BYTES = 1L << 30;

    private SoftLimits() {}

    static DeviceAttributes attributes() {
        return new DeviceAttributes(
                "soft " + FrameLayout.VERSION,
                MAX_QUEUE_PAIRS - 1,
                MAX_WORK_REQUESTS,
                MAX_SEGMENTS,
                1 << 16,
                MAX_COMPLETIONS,
                MAX_MEMORY_REGIONS - 1,
                MAX_READ_ATOMIC,
                1 << 16,
                1,
                true,
                true);
    }

    static void check(String what, int value, int most) {
        if (value < 0 || value > most) {
            throw new VerbsException(
                    "asking the software device for " + value + " " + what,
                    VerbsErrno.EINVAL,
                    "it has " + most + " at most");
        }
    }
}
