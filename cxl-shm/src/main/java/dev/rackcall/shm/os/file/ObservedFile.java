package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.OsException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A regular file that belongs to other processes, such as a memfd at {@code /proc/PID/fd/N}, open for reading only.
 *
 * <p>It is read by pread(2) and not mapped. Touching a mapped hole of a memfd would give it a page, which its owners
 * never asked for; reading it does not. And if a hostile owner truncates the file, a read ends early, where an access
 * to a mapping would raise SIGBUS.
 *
 * <p>The open file keeps the memory alive after its last owner, so close it soon. For one thread.
 */
public final class ObservedFile implements AutoCloseable {
    private static final int FLAGS = LibcFiles.O_RDONLY | LibcFiles.O_NONBLOCK;

    private final FileChannel channel;
    private final FileStatus status;

    private ObservedFile(FileChannel channel, FileStatus status) {
        this.channel = channel;
        this.status = status;
    }

    /**
     * Opens what the path leads to. Does not block, even if that is a pipe.
     *
     * @throws IOException if there is no such file, or no permission, or it is no regular file
     */
    public static ObservedFile open(Path path) throws IOException {
        int fd = OpenFile.tryOpen(path, FLAGS, 0);
        if (fd < 0) {
            throw new IOException(OpenFile.failure(path, -fd));
        }
        Descriptor descriptor = new Descriptor(fd, path.toString());
        try {
            FileStatus status = FileStatus.of(fd, path.toString());
            // Checked on the open file: the path may lead elsewhere by now.
            if (!status.isRegular()) {
                throw new IOException(path + " leads to no regular file");
            }
            return new ObservedFile(FileChannel.open(Path.of("/proc/self/fd/" + fd), StandardOpenOption.READ), status);
        } catch (OsException e) {
            throw new IOException(e);
        } finally {
            descriptor.close();
        }
    }

    /** The kernel's description of the file when it was opened. */
    public FileStatus status() {
        return status;
    }

    /**
     * Reads from {@code position} until the buffer is full or the file ends. Another process may write meanwhile, so
     * the bytes need not be of one moment.
     */
    public void read(ByteBuffer into, long position) throws IOException {
        int start = into.position();
        while (into.hasRemaining()) {
            if (channel.read(into, position + into.position() - start) < 0) {
                return;
            }
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
