package dev.rackcall.shm.os;

/** The user that this process runs as. */
public final class Uid {
    private Uid() {}

    /** Effective user id. */
    public static int current() {
        return LibcProcess.geteuid(CallState.current().errnoSegment());
    }
}
