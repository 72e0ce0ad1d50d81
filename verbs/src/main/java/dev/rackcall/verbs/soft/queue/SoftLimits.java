package dev.rackcall.verbs.soft.queue;

import dev.rackcall.verbs.DeviceAttributes;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.soft.memory.DeviceMemory;
import dev.rackcall.verbs.soft.wire.FrameLayout;

/** Limits of the software device. */
public final class SoftLimits {
    public static final int PORT = 1;
    public static final int MAX_QUEUE_PAIRS = 1 << 16;
    public static final int MAX_WORK_REQUESTS = 1 << 14;
    public static final int MAX_SEGMENTS = 32;
    public static final int MAX_INLINE = 1024;
    public static final int MAX_COMPLETIONS = 1 << 20;
    public static final int MAX_READ_ATOMIC = 128;
    public static final long MAX_MESSAGE_BYTES = 1L << 30;

    private SoftLimits() {}

    public static DeviceAttributes attributes() {
        return new DeviceAttributes(
                "soft " + FrameLayout.VERSION,
                MAX_QUEUE_PAIRS - 1,
                MAX_WORK_REQUESTS,
                MAX_SEGMENTS,
                1 << 16,
                MAX_COMPLETIONS,
                DeviceMemory.MAX_REGIONS - 1,
                MAX_READ_ATOMIC,
                1 << 16,
                1,
                true,
                true);
    }

    public static void checkPort(int port) {
        if (port != PORT) {
            throw new VerbsException("port " + port + " of a software device", VerbsErrno.EINVAL, "it has port 1 only");
        }
    }

    public static void check(String what, int value, int most) {
        if (value < 0 || value > most) {
            throw new VerbsException(
                    "asking the software device for " + value + " " + what,
                    VerbsErrno.EINVAL,
                    "it has " + most + " at most");
        }
    }
}
