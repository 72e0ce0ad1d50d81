package dev.rackcall.perf;

/** A measurement that did not come about; the message says why. */
final class BenchFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    BenchFailure(String message) {
        super(message);
    }
}
