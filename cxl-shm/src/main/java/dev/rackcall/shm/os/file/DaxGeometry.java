package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Size and alignment of a device-dax device in bytes, as the kernel's dax bus publishes them. */
record DaxGeometry(long bytes, long alignment) {
    /** @param sysfs the device's directory, for example {@code /sys/dev/char/252:0} */
    static DaxGeometry read(Path sysfs, Path device) {
        long bytes = number(sysfs.resolve("size"), device);
        long alignment = number(sysfs.resolve("align"), device);
        if (bytes <= 0 || Long.bitCount(alignment) != 1 || bytes % alignment != 0) {
            throw new OsException(
                    device + " has size " + bytes + " and alignment " + alignment,
                    Errno.EINVAL,
                    "give it a size with daxctl reconfigure-device");
        }
        return new DaxGeometry(bytes, alignment);
    }

    private static long number(Path file, Path device) {
        try {
            return Long.decode(Files.readString(file).strip());
        } catch (IOException | NumberFormatException e) {
            throw new OsException(
                    device + " has no readable " + file,
                    Errno.ENODEV,
                    "name a /dev/daxX.Y in devdax mode (daxctl list)");
        }
    }
}
