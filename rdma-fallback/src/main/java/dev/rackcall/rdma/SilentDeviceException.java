package dev.rackcall.rdma;

import java.io.IOException;

/** The peer answers over TCP, but its device acknowledges no request of this device. */
final class SilentDeviceException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * Formats the message.
     *
     * @param device this side's device
     * @param why what was observed
     * @param advice what to check
     */
    SilentDeviceException(String device, String why, String advice) {
        super("its device acknowledges nothing that %s sends (%s): %s".formatted(device, why, advice));
    }
}
