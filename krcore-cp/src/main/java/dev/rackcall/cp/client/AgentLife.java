package dev.rackcall.cp.client;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;

/** One life of the host's agent process as a tenant's session with it knows it, and what to say of its end and of its silence. Any thread may use it. */
final class AgentLife {
    private final int pid;
    private volatile boolean over;

    AgentLife(int pid) {
        this.pid = pid;
    }

    int pid() {
        return pid;
    }

    /** The process has died, or this session with it was ended. */
    void end() {
        over = true;
    }

    boolean isOver() {
        return over;
    }

    String obituary() {
        return "the agent process " + pid + " has ended; connect again, which waits for the next one";
    }

    ControlPlaneException ended() {
        return new ControlPlaneException(Kind.UNREACHABLE, obituary());
    }

    /** Why somebody has waited in vain. */
    ControlPlaneException silent(Patience patience) {
        return over
                ? ended()
                : new ControlPlaneException(
                        Kind.UNREACHABLE,
                        "the agent process " + pid + " has not answered within " + patience + "; is it stopped?");
    }
}
