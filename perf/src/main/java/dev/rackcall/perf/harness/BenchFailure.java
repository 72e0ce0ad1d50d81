package dev.rackcall.perf.harness;

/** A measurement failed; the message says why. */
public final class BenchFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** A failure with its reason. */
    public BenchFailure(String message) {
        super(message);
    }
}
