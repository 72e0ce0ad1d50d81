package dev.rackcall.shm.os.file;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import java.lang.foreign.MemorySegment;

/**
 * Open-file-description locks on single bytes (fcntl(2), F_OFD_SETLK). They end with the open file, and so with its
 * process.
 */
final class RecordLock {
    static final int FLOCK_BYTES = 32;
    static final long TYPE = 0;
    static final long WHENCE = 2;
    static final long START = 8;
    static final long LENGTH = 16;
    static final long PID = 24;

    private static final short F_WRLCK = 1;
    private static final short F_UNLCK = 2;

    private RecordLock() {}

    static boolean tryLock(int fd, long position, String name) {
        return tryLock(fd, position, 1, name);
    }

    static boolean tryLock(int fd, long position, long length, String name) {
        CallState state = CallState.current();
        MemorySegment flock = flock(state, F_WRLCK, position, length);
        if (LibcFiles.fcntl(state.errnoSegment(), fd, LibcFiles.F_OFD_SETLK, flock) == 0) {
            return true;
        }
        if (state.errno() == Errno.EAGAIN || state.errno() == Errno.EACCES) {
            return false;
        }
        throw state.failure("locking byte " + position + " of " + name);
    }

    static boolean unlock(int fd, long position, String name) {
        CallState state = CallState.current();
        if (LibcFiles.fcntl(state.errnoSegment(), fd, LibcFiles.F_OFD_SETLK, flock(state, F_UNLCK, position, 1)) != 0) {
            throw state.failure("unlocking byte " + position + " of " + name);
        }
        return true;
    }

    static boolean isHeldElsewhere(int fd, long position, String name) {
        CallState state = CallState.current();
        MemorySegment flock = flock(state, F_WRLCK, position, 1);
        if (LibcFiles.fcntl(state.errnoSegment(), fd, LibcFiles.F_OFD_GETLK, flock) != 0) {
            throw state.failure("asking for the lock on byte " + position + " of " + name);
        }
        return flock.get(JAVA_SHORT, TYPE) != F_UNLCK;
    }

    private static MemorySegment flock(CallState state, short type, long position, long length) {
        MemorySegment flock = state.scratch();
        flock.asSlice(0, FLOCK_BYTES).fill((byte) 0);
        flock.set(JAVA_SHORT, TYPE, type);
        flock.set(JAVA_LONG, START, position);
        flock.set(JAVA_LONG, LENGTH, length);
        return flock;
    }
}
