package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.CallState;

/** Operations that the kernel refuses on a memfd from now on (F_ADD_SEALS in fcntl(2)). Seals cannot be removed. */
final class FileSeals {
    /** No shrinking and no growing. */
    static final int LENGTH = LibcFiles.F_SEAL_SHRINK | LibcFiles.F_SEAL_GROW;

    /** As {@link #LENGTH}, and no further seals. */
    static final int LENGTH_FOR_GOOD = LENGTH | LibcFiles.F_SEAL_SEAL;

    /** No new writable mapping, no write(2), and no further seals. */
    static final int WRITERS = LibcFiles.F_SEAL_FUTURE_WRITE | LibcFiles.F_SEAL_SEAL;

    private FileSeals() {}

    /** @param what for the message on failure */
    static boolean add(int fd, int seals, String what) {
        CallState state = CallState.current();
        if (LibcFiles.fcntl(state.errnoSegment(), fd, LibcFiles.F_ADD_SEALS, seals) != 0) {
            throw state.failure(what);
        }
        return true;
    }

    /** Whether the file has all of these seals. A file that cannot be sealed has none. */
    static boolean has(int fd, int seals) {
        CallState state = CallState.current();
        int present = LibcFiles.fcntl(state.errnoSegment(), fd, LibcFiles.F_GET_SEALS, 0);
        return present >= 0 && (present & seals) == seals;
    }
}
