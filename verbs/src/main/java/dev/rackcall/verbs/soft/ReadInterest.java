package dev.rackcall.verbs.soft;

/** Whether a connection's event loop shall read: not while a thread polls busily, nor while answers have no room. */
final class ReadInterest {
    private final Link link;
    private boolean polled;
    private volatile boolean congested;

    ReadInterest(Link link) {
        this.link = link;
    }

    /** A polling thread has taken over, or has gone. */
    synchronized void polled(boolean now) {
        if (polled != now) {
            polled = now;
            apply();
        }
    }

    boolean isCongested() {
        return congested;
    }

    /** Answers have no room: nothing is read until there is. */
    void congested() {
        set(true);
        // The answers may have left between the look and the mark, and nobody would take the mark away.
        if (!link.isCongested()) {
            set(false);
        }
    }

    /** Answers have room again: reads what waits. By whoever moves the outgoing traffic. */
    void relieved() {
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
