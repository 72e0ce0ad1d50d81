package dev.rackcall.sandbox.os;

import dev.rackcall.shm.os.Linkage;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * C mirror: protection of pages, and userfaultfd(2) with the numbers of linux/userfaultfd.h, which all 64-bit
 * architectures share. Addresses are numbers, because a segment argument would keep its mapping open during the call.
 */
final class LibcPages {
    static final int PROT_READ = 1;
    static final int PROT_WRITE = 2;

    static final int O_CLOEXEC = 0x80000;
    static final int O_NONBLOCK = 0x800;
    static final int UFFD_USER_MODE_ONLY = 1;

    static final long UFFD_API = 0xAA;
    static final long UFFD_FEATURE_PAGEFAULT_FLAG_WP = 1L;
    static final long UFFD_FEATURE_SIGBUS = 1L << 7;
    static final long UFFD_FEATURE_WP_HUGETLBFS_SHMEM = 1L << 12;

    /** {api, features, ioctls}: 64-bit words, as in the other structs. */
    static final long UFFDIO_API = 0xC018AA3FL;
    /** {start, bytes, mode, ioctls}. */
    static final long UFFDIO_REGISTER = 0xC020AA00L;
    /** {start, bytes}. */
    static final long UFFDIO_UNREGISTER = 0x8010AA01L;
    /** {start, bytes, mode}. */
    static final long UFFDIO_WRITEPROTECT = 0xC018AA06L;

    static final long UFFDIO_REGISTER_MODE_WP = 2;
    static final long UFFDIO_WRITEPROTECT_MODE_WP = 1;
    static final long UFFDIO_WRITEPROTECT_MODE_DONTWAKE = 2;

    private static final MethodHandle MPROTECT = Linkage.libc("mprotect");
    private static final MethodHandle MADVISE = Linkage.libc("madvise");
    private static final MethodHandle PRCTL = Linkage.libc("prctl");
    private static final MethodHandle IOCTL = Linkage.libc("ioctl");

    private LibcPages() {}

    static int mprotect(MemorySegment errno, long address, long bytes, int protection) {
        return (int) Linkage.call(MPROTECT, errno, address, bytes, protection);
    }

    static int madvise(MemorySegment errno, long address, long bytes, int advice) {
        return (int) Linkage.call(MADVISE, errno, address, bytes, advice);
    }

    static int prctl(MemorySegment errno, int option, long argument) {
        return (int) Linkage.call(PRCTL, errno, option, argument);
    }

    /** The caller keeps the structure at this address reachable. */
    static int ioctl(MemorySegment errno, int fd, long request, long structure) {
        return (int) Linkage.call(IOCTL, errno, fd, request, structure);
    }
}
