package dev.rackcall.perf.harness;

import java.io.Serializable;

/**
 * What the coordinator tells a measured JVM to do. It travels there serialised, with the values that it captures; so
 * does its answer back.
 *
 * @param <S> the side that it is for: {@link ServerSide} or {@link MeasuredClient}
 * @param <T> the answer
 */
@FunctionalInterface
public interface Order<S, T> extends Serializable {
    /** Runs in the measured JVM. */
    T on(S side) throws Exception;
}
