package dev.rackcall.rack;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** What a guest boots from: busybox, init.sh and kernel modules. Not packed, since unpacking would be emulated. */
final class Initramfs {
    private static final List<String> FOLDERS = List.of("bin", "proc", "sys", "dev", "root", "host", "tmp");
    private static final List<String> APPLETS =
            List.of("sh", "mount", "modprobe", "switch_root", "cat", "cp", "echo", "mkdir", "sleep", "poweroff");

    /** Offsets in the header of an ELF file of 64 bits. */
    private static final int ELF_HEADERS = 32;

    private static final int ELF_HEADER_SIZE = 54;
    private static final int ELF_HEADER_COUNT = 56;
    private static final int ELF_INTERPRETER = 3;

    private Initramfs() {}

    static byte[] of(KernelImage kernel, Path busybox) throws IOException, NotRunException {
        byte[] program = Files.readAllBytes(busybox);
        if (needsLibraries(program)) {
            throw new NotRunException(
                    busybox + " needs shared libraries, which a guest does not have yet when it starts;"
                            + " install busybox-static");
        }
        CpioArchive archive = new CpioArchive();
        FOLDERS.forEach(archive::folder);
        archive.file("bin/busybox", program);
        APPLETS.forEach(applet -> archive.link("bin/" + applet, "busybox"));
        archive.file("init", resource("init.sh"));
        addModules(archive, kernel.modules());
        return archive.finish();
    }

    /** Whether an ELF file names an interpreter, as every program does that needs shared libraries. */
    static boolean needsLibraries(byte[] program) {
        ByteBuffer elf = ByteBuffer.wrap(program).order(ByteOrder.LITTLE_ENDIAN);
        long headers = elf.getLong(ELF_HEADERS);
        int size = elf.getShort(ELF_HEADER_SIZE);
        for (int i = 0; i < elf.getShort(ELF_HEADER_COUNT); i++) {
            if (elf.getInt((int) headers + i * size) == ELF_INTERPRETER) {
                return true;
            }
        }
        return false;
    }

    private static void addModules(CpioArchive archive, Path from) throws IOException {
        Path modules = from.resolve("lib");
        List<Path> all;
        try (Stream<Path> paths = Files.walk(modules)) {
            all = paths.sorted().toList();
        }
        for (Path path : all) {
            String name = from.relativize(path).toString();
            if (Files.isDirectory(path)) {
                archive.folder(name);
            } else {
                archive.file(name, Files.readAllBytes(path));
            }
        }
    }

    /** A file that is packed with this class. */
    static byte[] resource(String name) throws IOException {
        try (InputStream in = Initramfs.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("the resource " + name + " is missing from the class path");
            }
            return in.readAllBytes();
        }
    }
}
