package dev.rackcall.verbs.soft.wire;

/** A peer broke the rules of {@link FrameLayout}. Its link is closed; other peers are not affected. */
public final class WireViolation extends Exception {
    private static final long serialVersionUID = 1L;

    public WireViolation(String message) {
        super(message);
    }
}
