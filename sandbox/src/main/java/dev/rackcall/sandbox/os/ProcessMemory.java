package dev.rackcall.sandbox.os;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A process's memory as proc(5) reports it. Needs the same user and the right to trace that process. */
public final class ProcessMemory {
    private static final long PAGE_BYTES = 4096;
    /** Bit of an entry in /proc/PID/pagemap: the page is write-protected by a userfaultfd. */
    private static final int WRITE_PROTECTED_BIT = 57;

    private static final Pattern RANGE = Pattern.compile("([0-9a-f]+)-([0-9a-f]+) ");

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
     * @param shared whether stores change the file; a read-only mapping can be made writable
     * @param offset in the file
     * @param device the file's device
     * @param inode the file's inode
     */
    public record FileMapping(long start, long bytes, boolean shared, long offset, String device, long inode) {
        /** Whether it maps the same file. */
        public boolean isOfFile(FileMapping other) {
            return inode == other.inode && device.equals(other.device);
        }

        /** Whether it is a shared mapping of any of these bytes of the other's file. */
        public boolean isSharedPartOf(FileMapping other, long from, long length) {
            return shared && isOfFile(other) && offset < from + length && from < offset + bytes;
        }

        boolean covers(long address, long length) {
            return address >= start && length <= bytes && address - start <= bytes - length;
        }
    }

    /** Ids of all processes of this host that are visible to this one. */
    public static int[] processes() throws IOException {
        try (Stream<Path> entries = Files.list(Path.of("/proc"))) {
            return entries.map(entry -> entry.getFileName().toString())
                    .filter(name -> name.chars().allMatch(Character::isDigit))
                    .mapToInt(Integer::parseInt)
                    .toArray();
        }
    }

    /** As {@link #fileMappings}; empty if the process has ended or hides them from this user. */
    public List<FileMapping> visibleMappings() {
        try {
            return fileMappings();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** All mappings of files. */
    public List<FileMapping> fileMappings() throws IOException {
        List<FileMapping> all = new ArrayList<>();
        for (String line : Files.readAllLines(folder.resolve("maps"), StandardCharsets.ISO_8859_1)) {
            String[] fields = line.split(" +", 6);
            String[] ends = fields[0].split("-");
            long start = Long.parseUnsignedLong(ends[0], 16);
            long inode = Long.parseLong(fields[4]);
            if (inode != 0) {
                all.add(new FileMapping(
                        start,
                        Long.parseUnsignedLong(ends[1], 16) - start,
                        fields[1].endsWith("s"),
                        Long.parseUnsignedLong(fields[2], 16),
                        fields[3],
                        inode));
            }
        }
        return all;
    }

    /** The mapping that covers an address range; there must be one. */
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

    /**
     * Whether the mapping at an address is as {@link Lockdown#fix} leaves it: sealed by mseal(2), and not copied to
     * children.
     */
    public boolean isFixed(long address) throws IOException {
        boolean found = false;
        for (String line : Files.readAllLines(folder.resolve("smaps"), StandardCharsets.ISO_8859_1)) {
            Matcher range = RANGE.matcher(line);
            if (range.lookingAt()) {
                found = Long.parseUnsignedLong(range.group(1), 16) <= address
                        && Long.compareUnsigned(address, Long.parseUnsignedLong(range.group(2), 16)) < 0;
            } else if (found && line.startsWith("VmFlags:")) {
                return line.contains(" sl") && line.contains(" dc");
            }
        }
        return false;
    }

    /** Whether one of its open descriptors is a userfaultfd. */
    public boolean hasUserfault() throws IOException {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(folder.resolve("fd"))) {
            for (Path descriptor : descriptors) {
                try {
                    if (Files.readSymbolicLink(descriptor).toString().contains("[userfaultfd]")) {
                        return true;
                    }
                } catch (NoSuchFileException e) {
                    // It was closed in the meantime.
                }
            }
        }
        return false;
    }

    /** Whether all its threads filter system calls. */
    public boolean isFiltered() throws IOException {
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(folder.resolve("task"))) {
            for (Path thread : threads) {
                try {
                    if (Files.readAllLines(thread.resolve("status")).stream().noneMatch("Seccomp:\t2"::equals)) {
                        return false;
                    }
                } catch (NoSuchFileException e) {
                    // It ended in the meantime.
                }
            }
        }
        return true;
    }
}
