package dev.rackcall.sandbox.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.shm.os.Abi;
import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.Linkage;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Descriptor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A userfaultfd(2) that refuses stores to pages which it write-protects. The store changes nothing and raises SIGBUS,
 * which the JVM turns into an {@link InternalError} in the storing thread; a system call that would store gets EFAULT.
 * Works for memfd, tmpfs and hugetlbfs, not for device-dax. Needs no privilege: the descriptor handles only faults in
 * user mode.
 *
 * <p>The descriptor always acts on the memory of the process that opened it. If it is sent to another process, that
 * process can close and open these pages. When its last copy is closed, all its pages are open again.
 */
public final class Userfault implements PageProtector {
    private static final long FEATURES = LibcPages.UFFD_FEATURE_PAGEFAULT_FLAG_WP
            | LibcPages.UFFD_FEATURE_SIGBUS
            | LibcPages.UFFD_FEATURE_WP_HUGETLBFS_SHMEM;
    /** Maximum number of retries while the process's mappings are changing. */
    private static final int MAX_REPEATS = 1000;

    private final Descriptor descriptor;

    private Userfault(int fd) {
        descriptor = new Descriptor(fd, "userfaultfd " + fd);
    }

    /**
     * Opens a userfaultfd for the memory of this process.
     *
     * @throws UnsupportedFeatureException if the kernel is older than 5.19 or this process may not use userfaultfd(2),
     *     as in some containers
     */
    public static Userfault open() {
        return open(LibcPages.UFFD_API, FEATURES);
    }

    static Userfault open(long api, long features) {
        CallState state = CallState.current();
        long flags = LibcPages.O_CLOEXEC | LibcPages.O_NONBLOCK | (long) LibcPages.UFFD_USER_MODE_ONLY;
        int fd = (int) Linkage.syscall(state.errnoSegment(), Abi.current().userfaultfd(), flags, 0, 0, 0, 0);
        if (fd < 0) {
            throw refused(state.errno());
        }
        Userfault userfault = new Userfault(fd);
        MemorySegment structure = state.scratch();
        structure.set(JAVA_LONG, 0, api);
        structure.set(JAVA_LONG, 8, features);
        structure.set(JAVA_LONG, 16, 0);
        if (LibcPages.ioctl(state.errnoSegment(), fd, LibcPages.UFFDIO_API, structure.address()) != 0) {
            OsException cause = state.failure("UFFDIO_API");
            userfault.close();
            throw new UnsupportedFeatureException(
                    "This kernel's userfaultfd cannot write-protect shared memory; Linux 5.19 or newer can.", cause);
        }
        return userfault;
    }

    private static UnsupportedFeatureException refused(int errno) {
        OsException cause = new OsException("userfaultfd", errno);
        return new UnsupportedFeatureException(
                switch (errno) {
                    case Errno.ENOSYS ->
                        "This kernel has no userfaultfd, or a container's seccomp profile hides it;"
                                + " allow the system call, or use the mode SNAPSHOT.";
                    case Errno.EPERM, Errno.EACCES ->
                        "This process may not use userfaultfd: a container's seccomp profile forbids it."
                                + " Allow the system call (docker run --security-opt seccomp=PROFILE), or use the mode SNAPSHOT.";
                    case Errno.EINVAL ->
                        "This kernel's userfaultfd has no user-mode-only descriptors; Linux 5.11 or newer has.";
                    default -> "userfaultfd cannot be opened (" + Errno.name(errno) + "); see ulimit -n.";
                },
                cause);
    }

    /**
     * Takes over a descriptor that an untrusted process sent; it acts on that process's memory.
     *
     * @throws IOException if it is not a userfaultfd; it is then closed
     */
    public static Userfault adoptChecked(int fd) throws IOException {
        Userfault adopted = new Userfault(fd);
        String what = Files.readSymbolicLink(Path.of("/proc/self/fd", Integer.toString(fd)))
                .toString();
        if (!what.equals("anon_inode:[userfaultfd]")) {
            adopted.close();
            throw new IOException("the descriptor that was sent is not a userfaultfd but " + what);
        }
        return adopted;
    }

    /** The descriptor's number, for sending it to another process; valid until {@link #close}. */
    public int fd() {
        return descriptor.fd();
    }

    /**
     * Makes this mapping's pages protectable.
     *
     * @param address first byte, on a page border
     * @param bytes whole pages
     * @throws OsException (EBUSY) if another userfaultfd has it, (EINVAL) if it is unmapped or of a kind that cannot be
     *     protected, such as device-dax
     */
    public void register(long address, long bytes) {
        int errno = control(LibcPages.UFFDIO_REGISTER, address, bytes, LibcPages.UFFDIO_REGISTER_MODE_WP);
        if (errno != 0) {
            throw new OsException(
                    "registering " + range(address, bytes) + " for write protection",
                    errno,
                    "memfd, tmpfs and hugetlbfs memory can be protected this way, by one userfaultfd at a time;"
                            + " device-dax needs mprotect");
        }
    }

    /** Opens these pages for good. */
    public void unregister(long address, long bytes) {
        int errno = control(LibcPages.UFFDIO_UNREGISTER, address, bytes, 0);
        if (errno != 0) {
            throw new OsException("unregistering " + range(address, bytes), errno);
        }
    }

    @Override
    public void protect(long address, long bytes) {
        int errno = control(LibcPages.UFFDIO_WRITEPROTECT, address, bytes, LibcPages.UFFDIO_WRITEPROTECT_MODE_WP);
        if (errno != 0) {
            throw new OsException(
                    "write-protecting " + range(address, bytes), errno, "register the mapping that holds it first");
        }
    }

    @Override
    public void unprotect(long address, long bytes) {
        // No thread waits for a page: a store to a closed page raises a signal at once.
        int errno = control(LibcPages.UFFDIO_WRITEPROTECT, address, bytes, LibcPages.UFFDIO_WRITEPROTECT_MODE_DONTWAKE);
        if (errno != 0) {
            throw new OsException(
                    "lifting the write protection of " + range(address, bytes),
                    errno,
                    "it must lie in a registered mapping");
        }
    }

    /** One ioctl; returns 0 or errno. */
    private int control(long request, long address, long bytes, long mode) {
        descriptor.enter();
        try {
            CallState state = CallState.current();
            MemorySegment structure = state.scratch();
            for (int attempt = 0; ; attempt++) {
                structure.set(JAVA_LONG, 0, address);
                structure.set(JAVA_LONG, 8, bytes);
                structure.set(JAVA_LONG, 16, mode);
                structure.set(JAVA_LONG, 24, 0);
                if (LibcPages.ioctl(state.errnoSegment(), descriptor.fd(), request, structure.address()) == 0) {
                    return 0;
                }
                int errno = state.errno();
                if ((errno != Errno.EAGAIN && errno != Errno.EINTR) || attempt == MAX_REPEATS) {
                    return errno;
                }
                Thread.onSpinWait();
            }
        } finally {
            descriptor.exit();
        }
    }

    static String range(long address, long bytes) {
        return bytes + " bytes at 0x" + Long.toHexString(address);
    }

    @Override
    public void close() {
        descriptor.close();
    }

    @Override
    public String toString() {
        return "userfaultfd " + descriptor.fd();
    }
}
