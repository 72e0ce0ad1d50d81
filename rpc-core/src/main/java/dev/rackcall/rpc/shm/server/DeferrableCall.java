package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.spi.ServerCall;

/** A call whose answer its handler may leave to another thread: a stage that completes, or a stream with an element ready. */
abstract class DeferrableCall extends ServerCall {
    /** Publishes what was encoded, unless the caller no longer waits; returns whether it did. */
    abstract boolean succeed();

    /** Publishes a failure. */
    abstract void fail(Throwable cause);

    /**
     * Has {@code answer} end the deferred call, on the calling thread, by {@link #succeed} or {@link #fail}; what it throws is what the call ends with. If the
     * client is gone, the call ends without.
     */
    abstract void answerLate(Runnable answer);

    /** The memory sandbox of the call's connection. */
    abstract HandlerWalls.Wall wall();
}
