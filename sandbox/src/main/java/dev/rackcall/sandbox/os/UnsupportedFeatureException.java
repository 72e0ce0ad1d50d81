package dev.rackcall.sandbox.os;

/** This host lacks or forbids a feature. The message is a sentence: what is missing, and what would provide it. */
public final class UnsupportedFeatureException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UnsupportedFeatureException(String sentence) {
        super(sentence);
    }

    public UnsupportedFeatureException(String sentence, Throwable cause) {
        super(sentence, cause);
    }
}
