package dev.rackcall.rdma;

import java.io.IOException;

/** The peer answers over TCP, but its device acknowledges no request of this device. */
final class SilentDeviceException extends IOException {
    private static final long serialVersionUID = 1;

    private final boolean full;

    private SilentDeviceException(boolean full, String message) {
        super(message);
        this.full = full;
    }

    /**
     * The device does not answer.
     *
     * @param device this side's device
     * @param why what was observed
     * @param advice what to check
     */
    static SilentDeviceException silent(String device, String why, String advice) {
        return new SilentDeviceException(
                false, "its device acknowledges nothing that %s sends (%s): %s".formatted(device, why, advice));
    }

    /** The device has no place for this one. */
    static SilentDeviceException full(String device, String why) {
        return new SilentDeviceException(true, "its device has no place for %s: %s".formatted(device, why));
    }

    /** Whether the peer's device has too many peers. */
    boolean isFull() {
        return full;
    }
}
