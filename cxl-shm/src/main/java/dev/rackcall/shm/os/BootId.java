package dev.rackcall.shm.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/**
 * Identifies one boot of one host: the upper half of the kernel's random {@code boot_id}.
 *
 * @param bits never 0
 */
public record BootId(long bits) {
    private static final Path FILE = Path.of("/proc/sys/kernel/random/boot_id");

    /**
     * The boot of the running kernel.
     *
     * @throws OsException if the kernel does not provide it
     */
    public static BootId current() {
        try {
            // The UUID's version bits are never 0.
            return new BootId(UUID.fromString(Files.readString(FILE).strip()).getMostSignificantBits());
        } catch (IOException | IllegalArgumentException e) {
            throw new OsException("the kernel's " + FILE + " cannot be read", Errno.ENOENT, "mount /proc");
        }
    }
}
