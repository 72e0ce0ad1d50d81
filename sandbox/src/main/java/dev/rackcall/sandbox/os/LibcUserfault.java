package dev.rackcall.sandbox.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.shm.os.Linkage;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * C mirror: userfaultfd(2) and ioctl_userfaultfd(2), with the numbers of linux/userfaultfd.h, which are those of every 64-bit architecture.
 * Structures are plain 64-bit words.
 */
final class LibcUserfault {
    static final int O_CLOEXEC = 0x80000;
    static final int O_NONBLOCK = 0x800;
    static final int UFFD_USER_MODE_ONLY = 1;

    static final long UFFD_API = 0xAA;
    static final long UFFD_FEATURE_PAGEFAULT_FLAG_WP = 1L;
    static final long UFFD_FEATURE_SIGBUS = 1L << 7;
    static final long UFFD_FEATURE_WP_HUGETLBFS_SHMEM = 1L << 12;

    /** {api, features, ioctls}. */
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

    private static final MethodHandle SYSCALL = Linkage.variadic("syscall", 1, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle IOCTL = Linkage.variadic("ioctl", 2, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG);

    private LibcUserfault() {}

    static int userfaultfd(MemorySegment errno, long number, long flags) {
        try {
            return (int) (long) SYSCALL.invokeExact(errno, number, flags);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    /** The structure by its address, which must stay reachable: a segment argument costs an allocation. */
    static int ioctl(MemorySegment errno, int fd, long request, long structure) {
        try {
            return (int) IOCTL.invokeExact(errno, fd, request, structure);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }
}
