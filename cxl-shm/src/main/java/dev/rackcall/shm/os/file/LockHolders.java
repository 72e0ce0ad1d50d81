package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.Uid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;

/** Which processes hold locks of files (flock(2)), as /proc/locks shows them. */
final class LockHolders {
    private static final Path LOCKS = Path.of("/proc/locks");
    private static final int ROOT = 0;

    private LockHolders() {}

    /**
     * The process that holds the file's lock, if it runs as a user that this process need not trust: neither its own nor
     * root. Empty if nothing holds the lock, or a process outside this process's pid namespace does.
     */
    static OptionalInt stranger(FileStatus file) {
        String place = "%02x:%02x:%d".formatted(file.device() >>> 32, file.device() & 0xffff_ffffL, file.inode());
        try {
            for (String line : Files.readAllLines(LOCKS)) {
                // number: kind advisory write pid place start end; with "->" behind the number if it waits
                String[] parts = line.trim().split(" +");
                if (parts.length >= 6 && parts[1].equals("FLOCK") && parts[5].equals(place)) {
                    int pid = Integer.parseInt(parts[4]);
                    return pid > 0 && isStranger(pid) ? OptionalInt.of(pid) : OptionalInt.empty();
                }
            }
        } catch (IOException | NumberFormatException e) {
            return OptionalInt.empty();
        }
        return OptionalInt.empty();
    }

    /** Also true if the process hides its status or has ended, and a child of it still holds the lock. */
    private static boolean isStranger(int pid) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/status"))) {
                // real, effective, saved and file system user
                if (line.startsWith("Uid:")) {
                    int uid = Integer.parseUnsignedInt(line.split("\t")[2]);
                    return uid != Uid.current() && uid != ROOT;
                }
            }
            return true;
        } catch (IOException | NumberFormatException e) {
            return true;
        }
    }
}
