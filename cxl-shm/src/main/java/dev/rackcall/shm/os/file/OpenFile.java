package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import java.lang.foreign.Arena;
import java.nio.file.Path;

/** open(2), linkat(2) and unlink(2) of a path, with messages that name it. */
public final class OpenFile {
    private OpenFile() {}

    /** The new descriptor, or minus the errno. */
    static int tryOpen(Path path, int flags, int mode) {
        try (Arena arena = Arena.ofConfined()) {
            CallState state = CallState.current();
            int fd = LibcFiles.open(
                    state.errnoSegment(), arena.allocateFrom(path.toString()), flags | LibcFiles.O_CLOEXEC, mode);
            return fd >= 0 ? fd : -state.errno();
        }
    }

    public static int open(Path path, int flags, int mode) {
        int fd = tryOpen(path, flags, mode);
        if (fd < 0) {
            throw failure(path, -fd);
        }
        return fd;
    }

    static OsException failure(Path path, int errno) {
        String what = "cannot open " + path;
        return switch (errno) {
            case Errno.ENOENT -> new OsException(what, errno, "create it first, or check the name");
            case Errno.EACCES, Errno.EPERM ->
                new OsException(what, errno, "it belongs to another user or its mode forbids it: see ls -l " + path);
            case Errno.EEXIST -> new OsException(what, errno, "it exists already: open it, or choose another name");
            case Errno.ELOOP -> new OsException(what, errno, "it is a symbolic link, which is not followed here");
            case Errno.EMFILE, Errno.ENFILE ->
                new OsException(what, errno, "too many open files: raise ulimit -n or close connections");
            default -> new OsException(what, errno);
        };
    }

    /** Gives a file that was opened without a name this one; false if it is taken. */
    static boolean link(int fd, Path path) {
        try (Arena arena = Arena.ofConfined()) {
            CallState state = CallState.current();
            int result = LibcFiles.linkat(
                    state.errnoSegment(),
                    LibcFiles.AT_FDCWD,
                    arena.allocateFrom("/proc/self/fd/" + fd),
                    LibcFiles.AT_FDCWD,
                    arena.allocateFrom(path.toString()),
                    LibcFiles.AT_SYMLINK_FOLLOW);
            if (result == 0) {
                return true;
            }
            if (state.errno() == Errno.EEXIST) {
                return false;
            }
            throw new OsException("cannot name " + path, state.errno(), "is /proc mounted here?");
        }
    }

    /** Removes a file; returns whether this call removed it. */
    public static boolean unlink(Path path) {
        try (Arena arena = Arena.ofConfined()) {
            CallState state = CallState.current();
            return LibcFiles.unlink(state.errnoSegment(), arena.allocateFrom(path.toString())) == 0;
        }
    }
}
