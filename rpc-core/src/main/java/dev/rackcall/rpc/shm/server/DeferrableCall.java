package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.spi.ServerCall;

/**
 * A call whose answer its handler may leave to another thread: a stage that completes, or a stream with an element
 * ready.
 */
abstract class DeferrableCall extends ServerCall {
    /** Publishes what was encoded, unless the caller no longer waits; returns whether it did. */
    abstract boolean succeed();

    /** Adds trailers to the answer, before it is published. */
    abstract void addTrailers(Metadata trailers);

    /** Publishes a failure. */
    abstract void fail(Throwable cause);

    /**
     * Runs {@code answer} on the calling thread, to end the deferred call by {@link #succeed} or {@link #fail}; an
     * exception ends the call, too. If the client is gone, the call ends without an answer.
     */
    abstract void answerLate(Runnable answer);

    /** Runs {@code reading}, which reads the request; false if the client and its memory are gone. */
    abstract boolean readLate(Runnable reading);

    /** The memory sandbox of the call's connection. */
    abstract HandlerWalls.Wall wall();
}
