package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.spi.ServerCall.ResultWriter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.BiConsumer;

/**
 * Answers a call with what its handler's stage completes with: once, whatever the stage does, since after that the slot serves its next call.
 */
final class StageAnswer<T> implements BiConsumer<T, Throwable> {
    private static final VarHandle GIVEN;

    static {
        try {
            GIVEN = MethodHandles.lookup().findVarHandle(StageAnswer.class, "given", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final DeferrableCall call;
    private final ResultWriter<T> writer;

    @SuppressWarnings("unused") // GIVEN
    private volatile boolean given;

    StageAnswer(DeferrableCall call, ResultWriter<T> writer) {
        this.call = call;
        this.writer = writer;
    }

    /** On whatever thread completes the stage. */
    @Override
    public void accept(T value, Throwable failure) {
        if (!GIVEN.compareAndSet(this, false, true)) {
            return;
        }
        HandlerWalls.Wall wall = call.wall();
        // Another client's handler may complete it.
        int confined = wall.lift();
        try {
            call.answerLate(() -> end(value, failure));
        } finally {
            wall.lower(confined);
        }
    }

    private void end(T value, Throwable failure) {
        if (failure == null) {
            writer.write(call.result(), call, value);
            call.succeed();
        } else {
            call.fail(failure);
        }
    }
}
