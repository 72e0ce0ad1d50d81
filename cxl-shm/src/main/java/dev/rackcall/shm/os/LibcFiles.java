package dev.rackcall.shm.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** C mirror: files. The first argument of each function takes errno; -1 means that it was set. */
final class LibcFiles {
    static final int O_RDONLY = 0;
    static final int O_RDWR = 2;
    static final int O_CREAT = 0x40;
    static final int O_EXCL = 0x80;
    static final int O_CLOEXEC = 0x80000;
    static final int O_PATH = 0x200000;
    static final int F_SETFD = 2;
    static final int FD_CLOEXEC = 1;
    static final int F_OFD_GETLK = 36;
    static final int F_OFD_SETLK = 37;
    static final int F_ADD_SEALS = 1033;
    static final int F_GET_SEALS = 1034;
    static final int F_SEAL_SEAL = 1;
    static final int F_SEAL_SHRINK = 2;
    static final int F_SEAL_GROW = 4;
    static final int F_SEAL_FUTURE_WRITE = 0x10;
    static final int MFD_CLOEXEC = 1;
    static final int MFD_ALLOW_SEALING = 2;
    static final int MFD_HUGETLB = 4;
    static final int AT_FDCWD = -100;
    static final int AT_SYMLINK_NOFOLLOW = 0x100;
    static final int AT_SYMLINK_FOLLOW = 0x400;
    static final int AT_EMPTY_PATH = 0x1000;
    static final int STATX_BASIC_STATS = 0x7ff;

    /** Different values on the two architectures (fcntl.h). */
    static final int O_NOFOLLOW = Abi.current().noFollowFlag();

    /** A file without a name; contains O_DIRECTORY. */
    static final int O_TMPFILE = 0x400000 | Abi.current().directoryFlag();

    private static final MethodHandle OPEN = Linkage.variadic("open", 2, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
    private static final MethodHandle CLOSE = Linkage.libc("close", JAVA_INT, JAVA_INT);
    private static final MethodHandle UNLINK = Linkage.libc("unlink", JAVA_INT, ADDRESS);
    private static final MethodHandle LINKAT =
            Linkage.libc("linkat", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle FTRUNCATE = Linkage.libc("ftruncate", JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle FALLOCATE =
            Linkage.libc("fallocate", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle MEMFD_CREATE = Linkage.libc("memfd_create", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle FCNTL_INT = Linkage.variadic("fcntl", 2, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle FCNTL_LOCK = Linkage.variadic("fcntl", 2, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle STATX =
            Linkage.libc("statx", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle PWRITE =
            Linkage.libc("pwrite", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle FCHMOD = Linkage.libc("fchmod", JAVA_INT, JAVA_INT, JAVA_INT);

    private LibcFiles() {}

    static int open(MemorySegment errno, MemorySegment path, int flags, int mode) {
        try {
            return (int) OPEN.invokeExact(errno, path, flags, mode);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int close(MemorySegment errno, int fd) {
        try {
            return (int) CLOSE.invokeExact(errno, fd);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int unlink(MemorySegment errno, MemorySegment path) {
        try {
            return (int) UNLINK.invokeExact(errno, path);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int linkat(
            MemorySegment errno, int fromDirectory, MemorySegment from, int toDirectory, MemorySegment to, int flags) {
        try {
            return (int) LINKAT.invokeExact(errno, fromDirectory, from, toDirectory, to, flags);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int ftruncate(MemorySegment errno, int fd, long length) {
        try {
            return (int) FTRUNCATE.invokeExact(errno, fd, length);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int fallocate(MemorySegment errno, int fd, int mode, long offset, long length) {
        try {
            return (int) FALLOCATE.invokeExact(errno, fd, mode, offset, length);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int memfdCreate(MemorySegment errno, MemorySegment name, int flags) {
        try {
            return (int) MEMFD_CREATE.invokeExact(errno, name, flags);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int fcntl(MemorySegment errno, int fd, int command, int argument) {
        try {
            return (int) FCNTL_INT.invokeExact(errno, fd, command, argument);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int fcntl(MemorySegment errno, int fd, int command, MemorySegment flock) {
        try {
            return (int) FCNTL_LOCK.invokeExact(errno, fd, command, flock);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int statx(MemorySegment errno, int directory, MemorySegment path, int flags, int mask, MemorySegment statx) {
        try {
            return (int) STATX.invokeExact(errno, directory, path, flags, mask, statx);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static long pwrite(MemorySegment errno, int fd, MemorySegment bytes, long count, long offset) {
        try {
            return (long) PWRITE.invokeExact(errno, fd, bytes, count, offset);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int fchmod(MemorySegment errno, int fd, int mode) {
        try {
            return (int) FCHMOD.invokeExact(errno, fd, mode);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }
}
