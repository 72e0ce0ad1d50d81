package dev.rackcall.cp;

import java.nio.ByteBuffer;

/** Who answers control messages. */
@FunctionalInterface
interface ControlHandler {
    /**
     * Answers, on the control port's thread. A request may come twice, since its answer may get lost: the second time must do no harm.
     *
     * @param operation a number of {@link ControlMessage}
     * @param body in the machine's byte order; its position moves
     * @throws ControlPlaneException whose message the asker gets
     */
    byte[] answer(int operation, ByteBuffer body);
}
