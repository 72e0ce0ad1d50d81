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
    /** Active, link lost briefly. */
    ACTIVE_DEFER;

    private static final PortState[] ALL = values();

    /** Whether the port cannot carry messages until an operator intervenes. */
    boolean isDown() {
        return this == DOWN || this == INIT || this == ARMED;
    }

    /** How to make it ACTIVE, as part of a sentence. */
    public String advice() {
        return this == INIT || this == ARMED
                ? "its subnet manager has not configured it: wait for it, or start one"
                : "plug it in, or bring its network interface up";
    }

    /** From libibverbs' number; an unknown one is NOP. */
    public static PortState ofCode(int code) {
        return code >= 0 && code < ALL.length ? ALL[code] : NOP;
    }
}
