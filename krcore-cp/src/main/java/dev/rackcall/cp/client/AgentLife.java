package dev.rackcall.cp.client;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;

/**
 * One life of the host's agent process, as seen by a session, and the errors after its end or its silence. Any thread
 * may use it.
 */
final class AgentLife {
    private final int pid;
    private volatile boolean over;

    AgentLife(int pid) {
        this.pid = pid;
    }

    int pid() {
        return pid;
    }

    /** Called when the process has died or the session was ended. */
    void end() {
        over = true;
    }

    boolean isOver() {
        return over;
    }

    String endMessage() {
        return "the agent process " + pid + " has ended; connect again, which waits for the next one";
    }

    ControlPlaneException ended() {
        return new ControlPlaneException(Kind.UNREACHABLE, endMessage());
    }

    /** The error of a wait that has failed. */
    ControlPlaneException silent(Patience patience) {
        return over
                ? ended()
                : new ControlPlaneException(
                        Kind.UNREACHABLE,
                        "the agent process " + pid + " has not answered within " + patience + "; is it stopped?");
    }
}
