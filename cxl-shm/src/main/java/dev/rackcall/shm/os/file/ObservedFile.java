package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.OsException;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Memory that belongs to other processes, such as a memfd at {@code /proc/PID/fd/N}, open for reading only: a regular
 * file, or a part of one or of a device-dax device.
 *
 * <p>A file is read by pread(2) and not mapped. Touching a mapped hole of a memfd would give it a page, which its owners
 * never asked for; reading it does not. And if a hostile owner truncates the file, a read ends early, where an access
 * to a mapping would raise SIGBUS. A device has neither holes nor an owner who could truncate it, and can only be mapped.
 *
 * <p>The open file keeps the memory alive after its last owner, so close it soon. For one thread.
 */
public final class ObservedFile implements AutoCloseable {
    private final Source source;
    private final long bytes;

    private ObservedFile(Source source, long bytes) {
        this.source = source;
        this.bytes = bytes;
    }

    private interface Source {
        /** Returns the number of bytes read; negative at the end. */
        int read(ByteBuffer into, long position) throws IOException;

        void close() throws IOException;
    }

    private record File(FileChannel channel, long place) implements Source {
        @Override
        public int read(ByteBuffer into, long position) throws IOException {
            return channel.read(into, place + position);
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    private record Device(Mapping mapping) implements Source {
        @Override
        public int read(ByteBuffer into, long position) {
            int length = into.remaining();
            into.put(mapping.memory().asSlice(position, length).asByteBuffer());
            return length;
        }

        @Override
        public void close() {
            mapping.close();
        }
    }

    private interface Choice {
        ObservedFile of(int fd, FileStatus status) throws IOException;
    }

    /**
     * Opens what the path leads to. The owner of a descriptor may have chosen any file: a device, to which opening alone
     * would do something, or a pipe, which would block, is refused unopened.
     *
     * @throws IOException if there is no such file, or no permission, or it is no regular file
     */
    public static ObservedFile open(Path path) throws IOException {
        return open(path, (fd, status) -> file(path, fd, status, 0, status.bytes()));
    }

    /**
     * As {@link #open(Path)}, for a part of the file, which may also be a device-dax device.
     *
     * @param place offset of the part in the file; whole pages of a device
     * @throws EOFException if the file has no such part
     * @throws IOException as {@link #open(Path)}
     */
    public static ObservedFile open(Path path, long place, long bytes) throws IOException {
        return open(path, (fd, status) -> {
            if (!status.isCharacterDevice()) {
                return file(path, fd, status, place, bytes);
            }
            DaxGeometry geometry = DaxGeometry.read(Path.of("/sys/dev/char", status.rawDevice()), path);
            requirePart(path, place, bytes, geometry.bytes());
            Descriptor device = new Descriptor(OpenFile.open(own(fd), LibcFiles.O_RDONLY, 0), path.toString());
            try {
                return new ObservedFile(
                        new Device(Mapping.readOnly(device.fd(), place, bytes, path.toString())), bytes);
            } finally {
                device.close();
            }
        });
    }

    private static ObservedFile open(Path path, Choice choice) throws IOException {
        int fd = OpenFile.tryOpen(path, LibcFiles.O_PATH, 0);
        if (fd < 0) {
            throw new IOException(OpenFile.failure(path, -fd));
        }
        Descriptor descriptor = new Descriptor(fd, path.toString());
        try {
            // Asked of what was found: the path may lead elsewhere by now.
            return choice.of(fd, FileStatus.of(fd, path.toString()));
        } catch (OsException e) {
            throw new IOException(e);
        } finally {
            descriptor.close();
        }
    }

    private static ObservedFile file(Path path, int fd, FileStatus status, long place, long bytes) throws IOException {
        if (!status.isRegular()) {
            throw new IOException(path + " leads to no regular file");
        }
        requirePart(path, place, bytes, status.bytes());
        return new ObservedFile(new File(FileChannel.open(own(fd), StandardOpenOption.READ), place), bytes);
    }

    private static Path own(int fd) {
        return Path.of("/proc/self/fd/" + fd);
    }

    private static void requirePart(Path path, long place, long bytes, long all) throws IOException {
        if (place < 0 || bytes < 0 || bytes > all || place > all - bytes) {
            throw new EOFException(path + " has " + all + " bytes, so no " + bytes + " bytes at " + place);
        }
    }

    /** Length of the file, or of the part, when it was opened. */
    public long bytes() {
        return bytes;
    }

    /**
     * Reads from {@code position} until the buffer is full or the file ends. Another process may write meanwhile, so
     * the bytes need not be of one moment.
     */
    public void read(ByteBuffer into, long position) throws IOException {
        int start = into.position();
        while (into.hasRemaining()) {
            if (source.read(into, position + into.position() - start) < 0) {
                return;
            }
        }
    }

    @Override
    public void close() throws IOException {
        source.close();
    }
}
