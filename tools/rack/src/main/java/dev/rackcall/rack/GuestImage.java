package dev.rackcall.rack;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The files from which guests boot; {@code prepare.sh} makes them from Debian's kernel package.
 *
 * @param kernel its version, as in {@code uname -r}
 * @param vmlinux the kernel's ELF file
 * @param initramfs busybox, init.sh and kernel modules
 * @param ticks of the time-stamp counter in a millisecond
 */
record GuestImage(String kernel, Path vmlinux, Path initramfs, long ticks) {
    private static final List<String> FILES = List.of("prepare.sh", "init.sh", "time-stamps.c");

    /** Runs the script; it keeps kernels in {@code cache} and writes the rest to {@code work}. */
    static GuestImage prepare(Path cache, Path work, Consumer<String> progress) throws NotRunException, IOException {
        Path scripts = unpackScripts(work.resolve("scripts"));
        List<String> command =
                List.of("bash", scripts.resolve("prepare.sh").toString(), cache.toString(), work.toString());
        Map<String, String> found = new HashMap<>();
        Program.run(command, work, line -> {
            String[] nameAndValue = line.split("=", 2);
            if (List.of("kernel", "vmlinux", "ticks").contains(nameAndValue[0])) {
                found.put(nameAndValue[0], nameAndValue[1]);
            } else {
                progress.accept(line);
            }
        });
        try {
            return new GuestImage(
                    found.get("kernel"),
                    Path.of(found.get("vmlinux")),
                    work.resolve("initramfs.cpio"),
                    Long.parseLong(found.get("ticks")));
        } catch (NumberFormatException | NullPointerException e) {
            throw new NotRunException("the kernel or the speed of the time-stamp counter is unknown: " + found, e);
        }
    }

    /** Copies the packed scripts into a folder. */
    static Path unpackScripts(Path folder) throws IOException {
        Files.createDirectories(folder);
        for (String file : FILES) {
            Files.write(folder.resolve(file), resource(file));
        }
        return folder;
    }

    /** A file that is packed with this class. */
    static byte[] resource(String name) throws IOException {
        try (InputStream in = GuestImage.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("the resource " + name + " is missing from the class path");
            }
            return in.readAllBytes();
        }
    }
}
