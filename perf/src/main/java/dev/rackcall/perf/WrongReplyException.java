package dev.rackcall.perf;

/** A reply did not show what its call sent: the subject is broken and its figures mean nothing. */
final class WrongReplyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    WrongReplyException(String subject, long expected, long actual) {
        super(subject + ": reply shows " + actual + " where " + expected + " was sent; the measurement is void");
    }
}
