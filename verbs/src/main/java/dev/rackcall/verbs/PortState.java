package dev.rackcall.verbs;

/** State of a port (enum ibv_port_state). Only an ACTIVE port carries messages. */
public enum PortState {
    /** Not reported. */
    NOP,
    /** No link. */
    DOWN,
    /** Link, but not configured yet. */
    INIT,
    /** Configured, not yet carrying data. */
    ARMED,
    /** Ready. */
    ACTIVE,
    /** Active, link lost for a moment. */
    ACTIVE_DEFER;

    private static final PortState[] ALL = values();

    /** From libibverbs' number; a number nobody knows is NOP. */
    public static PortState ofCode(int code) {
        return code >= 0 && code < ALL.length ? ALL[code] : NOP;
    }
}
