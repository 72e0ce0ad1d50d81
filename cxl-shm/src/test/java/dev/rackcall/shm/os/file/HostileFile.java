package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.CallState;

/** Does what {@link SharedFile} would not do. */
public final class HostileFile {
    /** FALLOC_FL_PUNCH_HOLE, which needs FALLOC_FL_KEEP_SIZE. */
    private static final int PUNCH_HOLE = 2 | 1;

    private HostileFile() {}

    /** Removes the memory behind these bytes. */
    public static void punchHole(SharedFile file, long offset, long length) {
        CallState state = CallState.current();
        if (LibcFiles.fallocate(state.errnoSegment(), file.fd(), PUNCH_HOLE, offset, length) != 0) {
            throw state.failure("punching a hole");
        }
    }
}
