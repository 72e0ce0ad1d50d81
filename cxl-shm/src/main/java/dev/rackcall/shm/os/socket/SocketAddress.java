package dev.rackcall.shm.os.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.rackcall.shm.os.file.Descriptor;
import dev.rackcall.shm.os.file.LibcFiles;
import dev.rackcall.shm.os.file.OpenFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A path as struct sockaddr_un (unix(7)), which holds at most 107 bytes. A longer path is reached through its
 * directory's descriptor, as {@code /proc/self/fd/N/name}, so only the name itself must be short.
 */
final class SocketAddress implements AutoCloseable {
    static final int SOCKADDR_BYTES = 110;
    static final long FAMILY = 0;
    static final long PATH = 2;
    static final int MAX_PATH_BYTES = 107;

    private static final int NO_DIRECTORY = -1;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment address = arena.allocate(SOCKADDR_BYTES, 2);
    private final int directory;

    private SocketAddress(Path path) {
        byte[] bytes = path.toString().getBytes(StandardCharsets.UTF_8);
        if (bytes.length <= MAX_PATH_BYTES) {
            directory = NO_DIRECTORY;
        } else {
            Path absolute = path.toAbsolutePath();
            directory = OpenFile.open(absolute.getParent(), LibcFiles.O_PATH, 0);
            bytes = ("/proc/self/fd/" + directory + "/" + absolute.getFileName()).getBytes(StandardCharsets.UTF_8);
            if (bytes.length > MAX_PATH_BYTES) {
                close();
                throw new IllegalArgumentException("the socket name " + absolute.getFileName()
                        + " is too long for Linux; use fewer than 80 bytes");
            }
        }
        address.set(JAVA_SHORT, FAMILY, (short) LibcSockets.AF_UNIX);
        MemorySegment.copy(bytes, 0, address, JAVA_BYTE, PATH, bytes.length);
    }

    static SocketAddress of(Path path) {
        return new SocketAddress(path);
    }

    MemorySegment segment() {
        return address;
    }

    @Override
    public void close() {
        if (directory != NO_DIRECTORY) {
            Descriptor.close(directory);
        }
        arena.close();
    }
}
