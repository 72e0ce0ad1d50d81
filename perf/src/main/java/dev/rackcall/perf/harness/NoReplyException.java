package dev.rackcall.perf.harness;

/** A call had no reply in time: the subject is broken, or its processes had no processor for that long. */
public final class NoReplyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * A call without a reply.
     *
     * @param number what was sent
     * @param last what the last reply showed
     * @param why what is known of the cause
     */
    public NoReplyException(String subject, long boundNanos, long number, long last, String why) {
        super(subject + ": no reply to " + number + " within " + boundNanos / 1_000_000_000L
                + " s, the last one was to " + last + "; " + why);
    }
}
