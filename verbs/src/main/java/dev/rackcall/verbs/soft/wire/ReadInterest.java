package dev.rackcall.verbs.soft.wire;

/**
 * Decides whether the event loop reads a link: not while a thread polls busily, nor while the ring of answers is full.
 */
public final class ReadInterest {
    private final Link link;
    private boolean polled;
    private volatile boolean congested;

    ReadInterest(Link link) {
        this.link = link;
    }

    /** A polling thread has started or stopped reading. */
    synchronized void polled(boolean now) {
        if (polled != now) {
            polled = now;
            apply();
        }
    }

    boolean isCongested() {
        return congested;
    }

    /** The ring of answers is full: nothing is read until it has room. */
    void congested() {
        set(true);
        // The answers may have left before the mark was set; then no other thread clears it.
        if (!link.isCongested()) {
            set(false);
        }
    }

    /** The ring has room again: reads what is pending. Called by the thread that sends. */
    public void relieved() {
        if (congested) {
            link.channel().eventLoop().execute(() -> {
                set(false);
                link.relieved();
            });
        }
    }

    private synchronized void set(boolean now) {
        if (congested != now) {
            congested = now;
            apply();
        }
    }

    private void apply() {
        link.channel().config().setAutoRead(!polled && !congested);
    }
}
