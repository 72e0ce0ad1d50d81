package dev.rackcall.samples.demo;

/** The two transports between a client and the store. */
public enum StoreTransport {
    /** Rackcall: documents are built in shared memory, and a Ref crosses. */
    POINTER("by pointer"),
    /** The usual alternative: documents cross as JSON, through a Unix domain socket. */
    SERIALISED("serialised");

    private final String title;

    StoreTransport(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }
}
