package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.Abi;
import dev.rackcall.shm.os.Linkage;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * C mirror: files and mappings. The first argument of each function takes errno; -1 means that it was set. Addresses of
 * mapped memory are plain numbers, since a segment argument would keep the mapping from being closed during the call.
 */
public final class LibcFiles {
    static final int O_RDONLY = 0;
    static final int O_RDWR = 2;
    static final int O_CREAT = 0x40;
    static final int O_EXCL = 0x80;
    static final int O_NONBLOCK = 0x800;
    static final int O_CLOEXEC = 0x80000;
    public static final int O_PATH = 0x200000;
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

    /** The value differs between the two architectures (fcntl.h). */
    static final int O_NOFOLLOW = Abi.current().noFollowFlag();

    /** A file without a name; contains O_DIRECTORY. */
    static final int O_TMPFILE = 0x400000 | Abi.current().directoryFlag();

    static final int PROT_READ = 1;
    static final int PROT_WRITE = 2;
    static final int MAP_SHARED = 1;
    static final int MAP_NORESERVE = 0x4000;
    static final long MAP_FAILED = -1L;
    static final int MADV_HUGEPAGE = 14;

    private static final MethodHandle OPEN = Linkage.libc("open");
    private static final MethodHandle CLOSE = Linkage.libc("close");
    private static final MethodHandle UNLINK = Linkage.libc("unlink");
    private static final MethodHandle LINKAT = Linkage.libc("linkat");
    private static final MethodHandle FTRUNCATE = Linkage.libc("ftruncate");
    private static final MethodHandle FALLOCATE = Linkage.libc("fallocate");
    private static final MethodHandle MEMFD_CREATE = Linkage.libc("memfd_create");
    private static final MethodHandle FCNTL = Linkage.libc("fcntl");
    private static final MethodHandle STATX = Linkage.libc("statx");
    private static final MethodHandle PWRITE = Linkage.libc("pwrite");
    private static final MethodHandle FCHMOD = Linkage.libc("fchmod");
    private static final MethodHandle MMAP = Linkage.libc("mmap");
    private static final MethodHandle MUNMAP = Linkage.libc("munmap");
    private static final MethodHandle MADVISE = Linkage.libc("madvise");
    private static final MethodHandle FLOCK = Linkage.libc("flock");

    private LibcFiles() {}

    static int open(MemorySegment errno, MemorySegment path, int flags, int mode) {
        return (int) Linkage.call(OPEN, errno, Linkage.address(path), flags, mode);
    }

    static int close(MemorySegment errno, int fd) {
        return (int) Linkage.call(CLOSE, errno, fd);
    }

    static int unlink(MemorySegment errno, MemorySegment path) {
        return (int) Linkage.call(UNLINK, errno, Linkage.address(path));
    }

    static int linkat(
            MemorySegment errno, int fromDirectory, MemorySegment from, int toDirectory, MemorySegment to, int flags) {
        return (int) Linkage.call(
                LINKAT, errno, fromDirectory, Linkage.address(from), toDirectory, Linkage.address(to), flags);
    }

    static int ftruncate(MemorySegment errno, int fd, long length) {
        return (int) Linkage.call(FTRUNCATE, errno, fd, length);
    }

    static int fallocate(MemorySegment errno, int fd, int mode, long offset, long length) {
        return (int) Linkage.call(FALLOCATE, errno, fd, mode, offset, length);
    }

    static int memfdCreate(MemorySegment errno, MemorySegment name, int flags) {
        return (int) Linkage.call(MEMFD_CREATE, errno, Linkage.address(name), flags);
    }

    static int fcntl(MemorySegment errno, int fd, int command, int argument) {
        return (int) Linkage.call(FCNTL, errno, fd, command, argument);
    }

    static int fcntl(MemorySegment errno, int fd, int command, MemorySegment flock) {
        return (int) Linkage.call(FCNTL, errno, fd, command, Linkage.address(flock));
    }

    static int statx(MemorySegment errno, int directory, MemorySegment path, int flags, int mask, MemorySegment statx) {
        return (int) Linkage.call(STATX, errno, directory, Linkage.address(path), flags, mask, Linkage.address(statx));
    }

    static long pwrite(MemorySegment errno, int fd, MemorySegment bytes, long count, long offset) {
        return Linkage.call(PWRITE, errno, fd, Linkage.address(bytes), count, offset);
    }

    public static int fchmod(MemorySegment errno, int fd, int mode) {
        return (int) Linkage.call(FCHMOD, errno, fd, mode);
    }

    static long mmap(MemorySegment errno, long address, long length, int protection, int flags, int fd, long offset) {
        return Linkage.call(MMAP, errno, address, length, protection, flags, fd, offset);
    }

    static int munmap(MemorySegment errno, long address, long length) {
        return (int) Linkage.call(MUNMAP, errno, address, length);
    }

    static int flock(MemorySegment errno, int fd, int operation) {
        return (int) Linkage.call(FLOCK, errno, fd, operation);
    }

    static int madvise(MemorySegment errno, long address, long length, int advice) {
        return (int) Linkage.call(MADVISE, errno, address, length, advice);
    }
}
