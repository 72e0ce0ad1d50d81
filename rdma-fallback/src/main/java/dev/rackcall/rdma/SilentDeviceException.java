package dev.rackcall.rdma;

import java.io.IOException;

/** The peer answers over TCP, but its device acknowledges nothing that this one sends. */
final class SilentDeviceException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * A message of these.
     *
     * @param device the own one
     * @param why what was found
     * @param advice what to look at
     */
    SilentDeviceException(String device, String why, String advice) {
        super("its device acknowledges nothing that %s sends (%s): %s".formatted(device, why, advice));
    }
}
