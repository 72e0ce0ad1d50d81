package dev.rackcall.shm.os.file;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The result of statx(2). Its structure is the same on every architecture.
 *
 * @param mode type and permission bits
 * @param bytes its length
 * @param allocatedBytes bytes backed by memory or disk
 * @param blockBytes preferred block size; on hugetlbfs the page size
 */
public record FileStatus(
        int mode,
        int uid,
        long inode,
        long device,
        long bytes,
        long allocatedBytes,
        int links,
        int blockBytes,
        String rawDevice) {
    static final int STATX_BYTES = 256;
    /** The unit in which statx(2) counts blocks, whatever the block size is. */
    private static final int SECTOR_BYTES = 512;

    static final long BLKSIZE = 4;
    static final long NLINK = 16;
    static final long UID = 20;
    static final long MODE = 28;
    static final long INO = 32;
    static final long SIZE = 40;
    static final long BLOCKS = 48;
    static final long RDEV_MAJOR = 128;
    static final long RDEV_MINOR = 132;
    static final long DEV_MAJOR = 136;
    static final long DEV_MINOR = 140;

    private static final int TYPE_MASK = 0xf000;
    private static final int REGULAR = 0x8000;
    private static final int CHARACTER_DEVICE = 0x2000;

    static FileStatus of(int fd, String name) {
        return read(fd, "", LibcFiles.AT_EMPTY_PATH)
                .orElseThrow(() -> CallState.current().failure("statx of " + name));
    }

    /** The status of the file at a path; empty if there is none. A symbolic link is not followed. */
    public static Optional<FileStatus> of(Path path) {
        Optional<FileStatus> status = read(LibcFiles.AT_FDCWD, path.toString(), LibcFiles.AT_SYMLINK_NOFOLLOW);
        int errno = CallState.current().errno();
        if (status.isEmpty() && errno != Errno.ENOENT && errno != Errno.ENOTDIR) {
            throw CallState.current().failure("statx of " + path);
        }
        return status;
    }

    /** The status of the file that a path leads to, also through symbolic links; empty if the kernel does not give it. */
    public static Optional<FileStatus> ofTarget(Path path) {
        return read(LibcFiles.AT_FDCWD, path.toString(), 0);
    }

    /** Whether the path leads to this file now. */
    boolean isAt(Path path) {
        return of(path).filter(this::isSameFile).isPresent();
    }

    /** Empty on failure; errno has the reason. */
    private static Optional<FileStatus> read(int directory, String path, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment statx = arena.allocate(STATX_BYTES, 8);
            MemorySegment errno = CallState.current().errnoSegment();
            MemorySegment name = arena.allocateFrom(path);
            return LibcFiles.statx(errno, directory, name, flags, LibcFiles.STATX_BASIC_STATS, statx) == 0
                    ? Optional.of(read(statx))
                    : Optional.empty();
        }
    }

    private static FileStatus read(MemorySegment statx) {
        return new FileStatus(
                Short.toUnsignedInt(statx.get(JAVA_SHORT, MODE)),
                statx.get(JAVA_INT, UID),
                statx.get(JAVA_LONG, INO),
                Integer.toUnsignedLong(statx.get(JAVA_INT, DEV_MAJOR)) << 32
                        | Integer.toUnsignedLong(statx.get(JAVA_INT, DEV_MINOR)),
                statx.get(JAVA_LONG, SIZE),
                statx.get(JAVA_LONG, BLOCKS) * SECTOR_BYTES,
                statx.get(JAVA_INT, NLINK),
                statx.get(JAVA_INT, BLKSIZE),
                statx.get(JAVA_INT, RDEV_MAJOR) + ":" + statx.get(JAVA_INT, RDEV_MINOR));
    }

    boolean isRegular() {
        return (mode & TYPE_MASK) == REGULAR;
    }

    boolean isCharacterDevice() {
        return (mode & TYPE_MASK) == CHARACTER_DEVICE;
    }

    int permissions() {
        return mode & 0777;
    }

    public boolean isSameFile(FileStatus other) {
        return inode == other.inode && device == other.device;
    }
}
