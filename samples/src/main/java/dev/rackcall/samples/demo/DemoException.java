package dev.rackcall.samples.demo;

/** The demo cannot continue. The message is a sentence for the user. */
public final class DemoException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    DemoException(String message) {
        super(message);
    }

    DemoException(String message, Throwable cause) {
        super(message, cause);
    }
}
