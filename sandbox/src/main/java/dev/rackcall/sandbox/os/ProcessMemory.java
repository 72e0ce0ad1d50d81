package dev.rackcall.sandbox.os;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What the kernel says of another process's memory, in proc(5). Needs the same user, and the right to trace that process. */
public final class ProcessMemory {
    private static final long PAGE_BYTES = 4096;
    /** Bit of an entry in /proc/PID/pagemap: the page is write-protected by a userfaultfd. */
    private static final int WRITE_PROTECTED_BIT = 57;

    private final Path folder;

    private ProcessMemory(Path folder) {
        this.folder = folder;
    }

    public static ProcessMemory of(int pid) {
        return new ProcessMemory(Path.of("/proc", Integer.toString(pid)));
    }

    /**
     * A mapping of a file.
     *
     * @param start first address
     * @param bytes length
     * @param writable whether stores are allowed, and shared
     * @param offset in the file
     * @param device and inode: which file
     */
    public record FileMapping(long start, long bytes, boolean writable, long offset, String device, long inode) {
        /** Whether it is of the same file. */
        public boolean isOfFile(FileMapping other) {
            return inode == other.inode && device.equals(other.device);
        }

        boolean covers(long address, long length) {
            return address >= start && length <= bytes && address - start <= bytes - length;
        }
    }

    /** All mappings of files. */
    public List<FileMapping> fileMappings() throws IOException {
        List<FileMapping> all = new ArrayList<>();
        for (String line : Files.readAllLines(folder.resolve("maps"), java.nio.charset.StandardCharsets.ISO_8859_1)) {
            String[] fields = line.split(" +", 6);
            String[] ends = fields[0].split("-");
            long start = Long.parseUnsignedLong(ends[0], 16);
            long inode = Long.parseLong(fields[4]);
            if (inode != 0) {
                all.add(new FileMapping(
                        start,
                        Long.parseUnsignedLong(ends[1], 16) - start,
                        fields[1].startsWith("rw") && fields[1].endsWith("s"),
                        Long.parseUnsignedLong(fields[2], 16),
                        fields[3],
                        inode));
            }
        }
        return all;
    }

    /** The one mapping that covers an address range, of which there must be one. */
    public FileMapping mappingAt(long address, long bytes) throws IOException {
        return fileMappings().stream()
                .filter(mapping -> mapping.covers(address, bytes))
                .findFirst()
                .orElseThrow(() -> new IOException("no mapping of a file covers " + Userfault.range(address, bytes)));
    }

    /** Whether a page that is present is write-protected by a userfaultfd. */
    public boolean isWriteProtected(long address) throws IOException {
        try (RandomAccessFile pagemap =
                new RandomAccessFile(folder.resolve("pagemap").toFile(), "r")) {
            byte[] entry = new byte[Long.BYTES];
            pagemap.seek(address / PAGE_BYTES * Long.BYTES);
            pagemap.readFully(entry);
            long bits = ByteBuffer.wrap(entry).order(ByteOrder.nativeOrder()).getLong();
            return (bits >>> WRITE_PROTECTED_BIT & 1) != 0;
        }
    }

    /** Whether an open descriptor of it is a userfaultfd. */
    public boolean hasUserfault() throws IOException {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(folder.resolve("fd"))) {
            for (Path descriptor : descriptors) {
                try {
                    if (Files.readSymbolicLink(descriptor).toString().contains("[userfaultfd]")) {
                        return true;
                    }
                } catch (NoSuchFileException e) {
                    // Closed meanwhile.
                }
            }
        }
        return false;
    }

    /** Whether every thread of it has a filter of system calls. */
    public boolean isFiltered() throws IOException {
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(folder.resolve("task"))) {
            for (Path thread : threads) {
                try {
                    if (Files.readAllLines(thread.resolve("status")).stream().noneMatch("Seccomp:\t2"::equals)) {
                        return false;
                    }
                } catch (NoSuchFileException e) {
                    // Ended meanwhile.
                }
            }
        }
        return true;
    }
}
