package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.ByteSize;
import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * Memory that several processes can map, as a file descriptor: an anonymous memfd, a file on tmpfs or hugetlbfs, or a
 * device-dax character device. The file is sparse and as long as its quota. Only reserved pages take memory.
 *
 * <p>The creator owns the descriptor and closes it; mappings outlive it. Any thread may call any method.
 */
public final class SharedFile implements AutoCloseable {
    /** What kind of file holds the memory. */
    public enum Kind {
        /** Anonymous; the kernel frees it with its last user. */
        MEMFD,
        /** Anonymous, with huge pages. */
        HUGE_MEMFD,
        /** A named file. */
        FILE,
        /** Device-dax: CXL or persistent memory, all of it available from the start. */
        DAX
    }

    private static final long SMALL_PAGE_BYTES = 4096;
    private static final long HUGE_PAGE_BYTES = 2L << 20;

    private final Descriptor descriptor;
    private final String name;
    private final Kind kind;
    /** Offset in the descriptor's file; 0 except for a {@link #window}. */
    private final long base;

    private final long bytes;
    private final long pageBytes;

    SharedFile(int fd, String name, Kind kind, long bytes, long pageBytes) {
        this(fd, name, kind, 0, bytes, pageBytes);
    }

    private SharedFile(int fd, String name, Kind kind, long base, long bytes, long pageBytes) {
        this.base = base;
        this.descriptor = new Descriptor(fd, name);
        this.name = name;
        this.kind = kind;
        this.bytes = bytes;
        this.pageBytes = pageBytes;
    }

    /**
     * Creates an anonymous file of {@code bytes}, rounded up to whole pages. It is sealed against shrinking, growing
     * and further seals.
     *
     * @param name for {@code /proc/PID/maps} only
     */
    public static SharedFile memfd(String name, long bytes) {
        return anonymous(name, bytes, Kind.MEMFD, SMALL_PAGE_BYTES, 0);
    }

    /**
     * As {@link #memfd}, of 2 MiB pages.
     *
     * @throws OsException if the host has no free huge pages
     */
    public static SharedFile hugeMemfd(String name, long bytes) {
        SharedFile file = anonymous(name, bytes, Kind.HUGE_MEMFD, HUGE_PAGE_BYTES, LibcFiles.MFD_HUGETLB);
        try {
            // Checked now, since a host without huge pages still allows the length to be set.
            file.reserve(0, HUGE_PAGE_BYTES);
            return file;
        } catch (OsException e) {
            file.close();
            throw e;
        }
    }

    /**
     * As {@link #memfd}, but allows {@link #shutOutWriters} later. All writers must map it before that.
     *
     * @param name for {@code /proc/PID/maps} only
     */
    public static SharedFile memfdForSomeWriters(String name, long bytes) {
        return anonymous(name, bytes, Kind.MEMFD, SMALL_PAGE_BYTES, 0, FileSeals.LENGTH);
    }

    /**
     * From now on, only mappings that exist already can write this memory. New writable mappings, write(2) and punching
     * holes are refused. Only for a {@link #memfdForSomeWriters}; needs Linux 5.1. Idempotent.
     *
     * @throws OsException if the file does not allow it
     */
    public void shutOutWriters() {
        if (areWritersShutOut()) {
            return;
        }
        inside(fd -> FileSeals.add(fd, FileSeals.WRITERS, "shutting writers out of " + name));
    }

    /** Whether {@link #shutOutWriters} can be called or was called. */
    public boolean mayShutOutWriters() {
        return areWritersShutOut() || (kind == Kind.MEMFD && !inside(fd -> FileSeals.has(fd, LibcFiles.F_SEAL_SEAL)));
    }

    /** Whether {@link #shutOutWriters} was called in any process. It cannot be undone. */
    public boolean areWritersShutOut() {
        return kind != Kind.DAX && inside(fd -> FileSeals.has(fd, FileSeals.WRITERS));
    }

    private static SharedFile anonymous(String name, long bytes, Kind kind, long pageBytes, int flags) {
        return anonymous(name, bytes, kind, pageBytes, flags, FileSeals.LENGTH_FOR_GOOD);
    }

    private static SharedFile anonymous(String name, long bytes, Kind kind, long pageBytes, int flags, int seals) {
        long length = roundUp(checkedLength(name, bytes), pageBytes);
        CallState state = CallState.current();
        int fd;
        try (Arena arena = Arena.ofConfined()) {
            fd = LibcFiles.memfdCreate(
                    state.errnoSegment(),
                    arena.allocateFrom(name),
                    LibcFiles.MFD_CLOEXEC | LibcFiles.MFD_ALLOW_SEALING | flags);
        }
        if (fd < 0) {
            throw new OsException("memfd_create of " + name, state.errno(), "see `rackcall doctor`");
        }
        SharedFile file = new SharedFile(fd, name, kind, length, pageBytes);
        try {
            file.truncate(length);
            FileSeals.add(fd, seals, "sealing the length of " + name);
            return file;
        } catch (RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /**
     * Creates a file of {@code bytes}, rounded up to whole pages, with mode 0600.
     *
     * @throws OsException if it exists already, or cannot be created
     */
    public static SharedFile createFile(Path path, long bytes) {
        checkedLength(path.toString(), bytes);
        int flags = LibcFiles.O_RDWR | LibcFiles.O_CREAT | LibcFiles.O_EXCL | LibcFiles.O_NOFOLLOW;
        int fd = OpenFile.open(path, flags, 0600);
        try {
            long pageBytes = pageBytes(FileStatus.of(fd, path.toString()));
            long length = roundUp(bytes, pageBytes);
            SharedFile file = new SharedFile(fd, path.toString(), Kind.FILE, length, pageBytes);
            file.truncate(length);
            return file;
        } catch (RuntimeException e) {
            OpenFile.unlink(path);
            Descriptor.close(fd);
            throw e;
        }
    }

    /**
     * Opens an existing file. Its present length is its quota.
     *
     * @throws OsException if it is missing, is not a regular file, or this user may not read and write it
     */
    public static SharedFile openFile(Path path) {
        int fd = OpenFile.open(path, LibcFiles.O_RDWR | LibcFiles.O_NOFOLLOW, 0);
        return describedBy(fd, path.toString());
    }

    /**
     * Opens a device-dax device. Size and alignment come from sysfs.
     *
     * @throws OsException if it is not such a device or this user may not read and write it
     */
    public static SharedFile openDax(Path path) {
        int fd = OpenFile.open(path, LibcFiles.O_RDWR, 0);
        try {
            FileStatus status = FileStatus.of(fd, path.toString());
            if (!status.isCharacterDevice()) {
                throw new OsException(path + " is no device-dax device", Errno.ENODEV, "name a /dev/daxX.Y");
            }
            DaxGeometry geometry = DaxGeometry.read(Path.of("/sys/dev/char", status.rawDevice()), path);
            return new SharedFile(fd, path.toString(), Kind.DAX, geometry.bytes(), geometry.alignment());
        } catch (RuntimeException e) {
            Descriptor.close(fd);
            throw e;
        }
    }

    /**
     * Takes over a descriptor that a peer sent. The length is read once, here. Check {@link #isSealed} before relying
     * on it.
     *
     * @throws OsException if it is not a regular file or memfd; the descriptor is closed then
     */
    public static SharedFile adopt(int fd) {
        return describedBy(fd, "received file " + fd);
    }

    private static SharedFile describedBy(int fd, String name) {
        try {
            FileStatus status = FileStatus.of(fd, name);
            if (!status.isRegular()) {
                throw new OsException(name + " is not a regular file", Errno.EINVAL, "name a pool file");
            }
            long pageBytes = pageBytes(status);
            Kind anonymous = pageBytes > SMALL_PAGE_BYTES ? Kind.HUGE_MEMFD : Kind.MEMFD;
            return new SharedFile(fd, name, status.links() == 0 ? anonymous : Kind.FILE, status.bytes(), pageBytes);
        } catch (RuntimeException e) {
            Descriptor.close(fd);
            throw e;
        }
    }

    /**
     * Part of this file as a file of its own, with its own descriptor, so that it can be mapped and unmapped
     * separately. Locks apply to the whole file.
     *
     * @param offset where it begins, in whole {@link #pageBytes}
     * @param length its bytes, in whole {@link #pageBytes}
     * @throws OsException if this process has no descriptors left
     */
    public SharedFile window(long offset, long length) {
        if (offset < 0
                || length <= 0
                || offset > bytes - length
                || offset % pageBytes != 0
                || length % pageBytes != 0) {
            throw new IllegalArgumentException(this + " has no window of " + length + " bytes at " + offset
                    + "; it must lie inside, on borders of " + pageBytes + " bytes");
        }
        return inside(fd -> new SharedFile(
                OpenFile.open(Path.of("/proc/self/fd/" + fd), LibcFiles.O_RDWR, 0),
                name,
                kind,
                base + offset,
                length,
                pageBytes));
    }

    static long pageBytes(FileStatus status) {
        return Long.bitCount(status.blockBytes()) == 1
                ? Math.max(SMALL_PAGE_BYTES, status.blockBytes())
                : SMALL_PAGE_BYTES;
    }

    static long checkedLength(String name, long bytes) {
        if (bytes <= 0 || bytes > 1L << 46) {
            throw new IllegalArgumentException(name + ": a length of " + bytes + " bytes; give 1 byte to 64 TiB");
        }
        return bytes;
    }

    static long roundUp(long bytes, long unit) {
        return (bytes + unit - 1) & -unit;
    }

    void truncate(long length) {
        CallState state = CallState.current();
        if (LibcFiles.ftruncate(state.errnoSegment(), descriptor.fd(), length) != 0) {
            throw new OsException(
                    "setting the length of " + name + " to " + ByteSize.describe(length),
                    state.errno(),
                    "check ulimit -f and the file system's limits");
        }
    }

    /** Length in bytes: the quota. */
    public long bytes() {
        return bytes;
    }

    /** Page size of the memory in bytes: 4 KiB, a huge page, or the device's alignment. */
    public long pageBytes() {
        return pageBytes;
    }

    public Kind kind() {
        return kind;
    }

    /** The descriptor's number, for a poll or a message; valid until {@link #close}. */
    public int fd() {
        if (descriptor.isClosed()) {
            throw new IllegalStateException(name + " is closed");
        }
        return descriptor.fd();
    }

    /**
     * Passes the descriptor's number to an action, and keeps it open meanwhile.
     *
     * @throws IllegalStateException if it is closed
     */
    public void lend(IntConsumer action) {
        inside(fd -> {
            action.accept(fd);
            return fd;
        });
    }

    /** Whether both are descriptors of one file, and of the same window of it. */
    public boolean isSameFile(SharedFile other) {
        FileStatus mine = inside(fd -> FileStatus.of(fd, name));
        FileStatus theirs = other.inside(fd -> FileStatus.of(fd, other.name));
        return mine.isSameFile(theirs) && base == other.base;
    }

    /** Whether the kernel protects the length, so that no process can shrink the file under a mapping. */
    public boolean isSealed() {
        return kind == Kind.DAX || inside(fd -> FileSeals.has(fd, FileSeals.LENGTH));
    }

    /**
     * Backs these bytes with memory, so that accessing them later cannot fail. Idempotent.
     *
     * @throws OsException if the file system or the host does not have enough memory; nothing else changes then
     */
    public void reserve(long offset, long length) {
        if (offset < 0 || length <= 0 || offset > bytes - length) {
            throw new IllegalArgumentException(
                    name + " has " + bytes + " bytes: cannot reserve " + length + " at " + offset);
        }
        if (kind == Kind.DAX) {
            return;
        }
        inside(fd -> MemoryBudget.reserve(fd, kind, base + offset, length, name));
    }

    /**
     * Maps the whole file for reading and writing. Mappings are independent of this object and of each other.
     *
     * @throws OsException if the kernel refuses
     */
    public Mapping map() {
        return inside(fd -> Mapping.of(fd, base, bytes, kind != Kind.DAX, name));
    }

    /**
     * Maps the whole file for reading only.
     *
     * @throws OsException if the kernel refuses
     */
    public Mapping mapReadOnly() {
        return inside(fd -> Mapping.readOnly(fd, base, bytes, name));
    }

    /**
     * Locks one byte, possibly beyond the end, for this open file. The kernel releases it when the last descriptor of
     * this open file and its last mapping are closed, however their processes end. Descriptors passed over a socket
     * belong to the same open file.
     *
     * @return false if another open file holds it
     */
    public boolean tryLock(long position) {
        return tryLock(position, 1);
    }

    /** As {@link #tryLock(long)}, for several consecutive bytes. Each can be unlocked by itself. */
    public boolean tryLock(long position, long length) {
        return inside(fd -> RecordLock.tryLock(fd, position, length, name));
    }

    /** Releases a byte that {@link #tryLock} locked. */
    public void unlock(long position) {
        inside(fd -> RecordLock.unlock(fd, position, name));
    }

    /** Whether another open file holds a lock on this byte. */
    public boolean isLockedElsewhere(long position) {
        return inside(fd -> RecordLock.isHeldElsewhere(fd, position, name));
    }

    private interface WithDescriptor<R> {
        R apply(int fd);
    }

    private <R> R inside(WithDescriptor<R> action) {
        descriptor.enter();
        try {
            return action.apply(descriptor.fd());
        } finally {
            descriptor.exit();
        }
    }

    /** The path for {@link Kind#FILE} and {@link Kind#DAX}; empty for an anonymous file. */
    public Optional<Path> path() {
        return kind == Kind.FILE || kind == Kind.DAX ? Optional.of(Path.of(name)) : Optional.empty();
    }

    /** Closes the descriptor; mappings stay. Idempotent. */
    @Override
    public void close() {
        descriptor.close();
    }

    @Override
    public String toString() {
        return name + " (" + kind + ", " + ByteSize.describe(bytes) + ")";
    }
}
