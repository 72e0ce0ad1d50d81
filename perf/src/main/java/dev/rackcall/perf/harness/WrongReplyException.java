package dev.rackcall.perf.harness;

/** A reply did not show what its call sent: the subject is broken and its figures mean nothing. */
public final class WrongReplyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public WrongReplyException(String subject, long expected, long actual) {
        super(subject + ": reply shows " + actual + " where " + expected + " was sent; the measurement is void");
    }

    /** @throws WrongReplyException unless the reply shows the number that was sent */
    public static void check(String subject, long expected, long actual) {
        if (actual != expected) {
            throw new WrongReplyException(subject, expected, actual);
        }
    }
}
