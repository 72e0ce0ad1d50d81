package dev.rackcall.rpc.shm;

import java.util.function.Consumer;

/** How a call is answered whose handler has left that to somebody else: on any thread, while its client is there, who may be asleep. */
final class LateAnswer {
    private LateAnswer() {}

    /**
     * Has {@code answer} end a deferred call by {@link ShmServerCall#succeed} or {@link ShmServerCall#fail}. What it throws is what the call ends with. If the client is gone, the call
     * ends without.
     */
    static void give(ShmServerCall call, Consumer<ShmServerCall> answer) {
        ShmServerConnection connection = call.connection;
        if (!connection.use.enter()) {
            call.forsake();
            connection.use.deferredEnds();
            return;
        }
        try {
            answerAndWake(call, answer);
        } finally {
            connection.use.deferredEnds();
            connection.use.leave();
        }
    }

    private static void answerAndWake(ShmServerCall call, Consumer<ShmServerCall> answer) {
        try {
            answer.accept(call);
        } catch (RuntimeException | Error e) {
            call.fail(e);
        } finally {
            call.connection.wakeSleepers();
        }
    }
}
