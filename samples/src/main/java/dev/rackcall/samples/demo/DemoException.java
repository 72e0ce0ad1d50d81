package dev.rackcall.samples.demo;

/** The demo cannot go on. The message is a sentence for whoever started it. */
public final class DemoException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    DemoException(String message) {
        super(message);
    }

    DemoException(String message, Throwable cause) {
        super(message, cause);
    }
}
