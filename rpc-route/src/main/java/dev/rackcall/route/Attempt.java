package dev.rackcall.route;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Status;

/** Counts one attempt of a call at its line, and tells the call's observer how it ended, unless there is another attempt. */
final class Attempt implements CallObserver {
    private final Line line;
    private CallObserver next;

    private Attempt(Line line, CallObserver next) {
        this.line = line;
        this.next = next;
    }

    static Attempt begin(Line line, CallObserver next) {
        line.begun();
        return new Attempt(line, next);
    }

    /** By the thread that has the call, before it ends the attempt. */
    void tellNobody() {
        next = CallObserver.NONE;
    }

    /** It came to nothing: counts, and its call says so itself. */
    void endUntold(Status status) {
        tellNobody();
        onClose(status);
    }

    @Override
    public void onClose(Status status) {
        line.ended(status.code());
        next.onClose(status);
    }
}
