package dev.rackcall.rack;

/** This machine cannot run the rack. The message is the rest of a sentence that begins with "because". */
final class NotRunException extends Exception {
    private static final long serialVersionUID = 1L;

    NotRunException(String because) {
        super(because);
    }

    NotRunException(String because, Throwable cause) {
        super(because, cause);
    }
}
