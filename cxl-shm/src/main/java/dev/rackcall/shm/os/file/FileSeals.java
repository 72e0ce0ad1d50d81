package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.CallState;

/** What the kernel refuses on a memfd from now on (F_ADD_SEALS in fcntl(2)). Seals can be added and never taken away. */
final class FileSeals {
    /** Nobody shrinks or enlarges it. */
    static final int LENGTH = LibcFiles.F_SEAL_SHRINK | LibcFiles.F_SEAL_GROW;

    /** As {@link #LENGTH}, and no further seals. */
    static final int LENGTH_FOR_GOOD = LENGTH | LibcFiles.F_SEAL_SEAL;

    /** No new way to write it, and no further seals. */
    static final int WRITERS = LibcFiles.F_SEAL_FUTURE_WRITE | LibcFiles.F_SEAL_SEAL;

    private FileSeals() {}

    /** @param what for the message if the file does not allow it */
    static boolean add(int fd, int seals, String what) {
        CallState state = CallState.current();
        if (LibcFiles.fcntl(state.errnoSegment(), fd, LibcFiles.F_ADD_SEALS, seals) != 0) {
            throw state.failure(what);
        }
        return true;
    }

    /** Whether it has all of them; a file that cannot be sealed has none. */
    static boolean has(int fd, int seals) {
        CallState state = CallState.current();
        int present = LibcFiles.fcntl(state.errnoSegment(), fd, LibcFiles.F_GET_SEALS, 0);
        return present >= 0 && (present & seals) == seals;
    }
}
