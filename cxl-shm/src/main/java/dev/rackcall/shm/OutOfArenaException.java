package dev.rackcall.shm;

/**
 * An arena cannot allocate the requested memory. It is full, or the host has no memory for it to grow. Nothing was
 * allocated.
 */
public final class OutOfArenaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String advice;

    public OutOfArenaException(String message) {
        super(message);
        problem = message;
        advice = "";
    }

    public OutOfArenaException(String message, Throwable cause) {
        super(message, cause);
        problem = message;
        advice = "";
    }

    /** An arena is full. */
    OutOfArenaException(String problem, String advice) {
        super(problem + "; " + advice);
        this.problem = problem;
        this.advice = advice;
    }

    /** The message without the advice. */
    public String problem() {
        return problem;
    }

    /** What to do about the arena that is full, which is also at the end of the message; empty for other reasons. */
    public String advice() {
        return advice;
    }
}
