package dev.rackcall.verbs.soft;

/** A peer broke the rules of {@link FrameLayout}: its connection ends, nobody else notices. */
final class ProtocolException extends Exception {
    private static final long serialVersionUID = 1L;

    ProtocolException(String message) {
        super(message);
    }
}
