package dev.rackcall.shm.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/**
 * What tells one boot of one host from every other boot of any host: the upper half of the kernel's random {@code boot_id}.
 *
 * @param bits never 0
 */
public record BootId(long bits) {
    private static final Path FILE = Path.of("/proc/sys/kernel/random/boot_id");

    /**
     * Of the running kernel.
     *
     * @throws OsException if it does not say
     */
    public static BootId current() {
        try {
            // Version bits make it differ from 0.
            return new BootId(UUID.fromString(Files.readString(FILE).strip()).getMostSignificantBits());
        } catch (IOException | IllegalArgumentException e) {
            throw new OsException("the kernel's " + FILE + " cannot be read", Errno.ENOENT, "mount /proc");
        }
    }
}
