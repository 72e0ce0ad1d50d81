package dev.rackcall.rack;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.stream.Stream;

/**
 * Debian's kernel, unpacked and not installed: its ELF file and the modules that guests load. It lies in the cache under the name of its package, so that it
 * is downloaded (70 MB) once for each version.
 *
 * @param version as in {@code uname -r}
 * @param vmlinux to start
 * @param modules a folder with {@code lib/modules/VERSION}
 */
record KernelImage(String version, Path vmlinux, Path modules) {
    private static final String META_PACKAGE = "linux-image-amd64";
    private static final String PREFIX = "linux-image-";
    /** The unpacked files are moved here as a whole: what has this name is complete. */
    private static final String READY = "ready";

    /** What init.sh loads; theirs are added. */
    static final List<String> MODULES = List.of(
            "virtio_pci",
            "9pnet_virtio",
            "9p",
            "virtio_net",
            "virtio_rng",
            "crc32_generic",
            "crc32_pclmul",
            "rdma_rxe",
            "ib_uverbs",
            "nfit",
            "nd_pmem",
            "dax_pmem",
            "device_dax");

    /** The kernel that Debian has now; if it cannot be had, the newest in {@code cache}. */
    static KernelImage get(Path cache, Progress progress) throws NotRunException, IOException {
        Files.createDirectories(cache);
        Optional<String> current = currentPackage(
                Program.text(List.of(HostTools.program("apt-cache").toString(), "depends", META_PACKAGE), cache));
        Optional<String> newest = newestCached(cache);
        if (current.isEmpty() && newest.isEmpty()) {
            throw new NotRunException("apt knows no package " + META_PACKAGE
                    + " and none was unpacked before; run apt-get update on a Debian with this package");
        }
        if (current.isPresent() && !Files.exists(cache.resolve(current.get()).resolve(READY))) {
            try {
                progress.says("downloading " + current.get() + " into " + cache);
                unpack(cache, current.get());
            } catch (NotRunException e) {
                if (newest.isEmpty()) {
                    throw e;
                }
                progress.says(current.get() + " cannot be had (" + e.getMessage() + "); taking " + newest.get());
                return in(cache, newest.get());
            }
        }
        return in(cache, current.orElseGet(newest::orElseThrow));
    }

    /** What the meta package depends on, in what {@code apt-cache depends} says. */
    static Optional<String> currentPackage(String aptCacheSays) {
        return aptCacheSays
                .lines()
                .map(String::strip)
                .filter(line -> line.startsWith("Depends: " + PREFIX))
                .map(line -> line.substring("Depends: ".length()))
                .findFirst();
    }

    /** The highest version among the packages that are whole. */
    static Optional<String> newestCached(Path cache) throws IOException {
        try (Stream<Path> entries = Files.list(cache)) {
            return entries.filter(entry -> Files.exists(entry.resolve(READY)))
                    .map(entry -> entry.getFileName().toString())
                    .filter(name -> name.startsWith(PREFIX))
                    .max(Comparator.comparing(KernelImage::versionKey));
        }
    }

    /** Numbers widened so that their order as text is that of versions. */
    private static String versionKey(String name) {
        StringBuilder key = new StringBuilder();
        for (String number : name.replaceAll("[^0-9]+", " ").strip().split(" ", -1)) {
            key.append("%8s".formatted(number));
        }
        return key.toString();
    }

    private static KernelImage in(Path cache, String name) {
        Path ready = cache.resolve(name).resolve(READY);
        return new KernelImage(name.substring(PREFIX.length()), ready.resolve("vmlinux"), ready);
    }

    private static void unpack(Path cache, String name) throws NotRunException, IOException {
        Path folder = cache.resolve(name);
        Folders.delete(folder);
        Path tree = Files.createDirectories(folder.resolve("tree"));
        Path staged = Files.createDirectories(folder.resolve("staged"));
        Program.text(List.of(HostTools.program("apt-get").toString(), "download", "-qq", name), folder);
        Path archive;
        try (Stream<Path> files = Files.list(folder)) {
            archive = files.filter(file -> file.toString().endsWith(".deb"))
                    .findFirst()
                    .orElseThrow(() -> new NotRunException("apt-get download " + name + " brought no package"));
        }
        Program.text(List.of("dpkg-deb", "-x", archive.toString(), tree.toString()), folder);
        String version = name.substring(PREFIX.length());
        Files.write(
                staged.resolve("vmlinux"),
                Vmlinux.of(Files.readAllBytes(tree.resolve("boot/vmlinuz-" + version)), folder));
        stageModules(version, tree, staged);
        Folders.delete(tree);
        Files.delete(archive);
        Files.move(staged, folder.resolve(READY));
    }

    private static void stageModules(String version, Path tree, Path staged) throws NotRunException, IOException {
        String depmod = HostTools.program("depmod").toString();
        Program.text(List.of(depmod, "-b", tree.toString(), version), tree);
        Path from = tree.resolve("lib/modules").resolve(version);
        Path to = staged.resolve("lib/modules").resolve(version);
        for (String module : needed(version, tree)) {
            Path file = Path.of(module);
            Path target = to.resolve(from.relativize(file).toString().replaceFirst("\\.xz$", ""));
            Files.createDirectories(target.getParent());
            if (module.endsWith(".xz")) {
                Files.write(
                        target,
                        Program.output(
                                List.of(HostTools.program("xz").toString(), "-dc"), tree, Files.readAllBytes(file)));
            } else {
                Files.copy(file, target);
            }
        }
        for (String list : List.of("modules.builtin", "modules.order")) {
            Files.copy(from.resolve(list), to.resolve(list));
        }
        Program.text(List.of(depmod, "-b", staged.toString(), version), staged);
    }

    private static SequencedSet<String> needed(String version, Path tree) throws NotRunException {
        SequencedSet<String> files = new LinkedHashSet<>();
        for (String module : MODULES) {
            // The configuration of this machine has rules of its own for some of them; an empty one has none.
            List<String> command = new ArrayList<>(List.of(
                    HostTools.program("modprobe").toString(), "-C", "/dev/null", "-d", tree.toString(), "-S", version));
            command.addAll(List.of("--show-depends", module));
            // What a kernel does not have, or has built in, need not be brought.
            new String(Program.outputWhateverStatus(command, tree, new byte[0]), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> line.startsWith("insmod "))
                    .map(line -> line.substring("insmod ".length()).strip())
                    .forEach(files::add);
        }
        return files;
    }
}
