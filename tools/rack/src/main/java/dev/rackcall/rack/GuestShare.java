package dev.rackcall.rack;

import dev.rackcall.rack.guest.Step;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** The folder with what guests run: the project's jars and those that they need, guest.sh, and its configuration. */
final class GuestShare {
    /** Interpreting and the first compiler only, and nothing that watches: what suits programs of a minute under emulation. */
    private static final List<String> JVM_FLAGS =
            List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx384m");

    private final Path folder;

    private GuestShare(Path folder) {
        this.folder = folder;
    }

    /**
     * Fills {@code folder}.
     *
     * @param classPath jars and folders with classes
     * @param flags of the JVM
     */
    static Path fill(Path folder, List<Path> classPath, List<String> flags, List<GuestSpec> guests, Set<Step> steps)
            throws IOException {
        Folders.delete(folder);
        GuestShare share = new GuestShare(Files.createDirectories(folder));
        Files.write(folder.resolve("guest.sh"), Initramfs.resource("guest.sh"));
        List<String> inGuest = share.copyClassPath(classPath);
        Files.writeString(folder.resolve("guest.conf"), configuration(inGuest, flags, guests, steps));
        return folder;
    }

    static String configuration(List<String> classPath, List<String> flags, List<GuestSpec> guests, Set<Step> steps) {
        StringBuilder text = new StringBuilder();
        text.append("JAVA_FLAGS='")
                .append(String.join(" ", JVM_FLAGS))
                .append(' ')
                .append(String.join(" ", flags))
                .append("'\n");
        text.append("CLASS_PATH='").append(String.join(":", classPath)).append("'\n");
        for (GuestSpec guest : guests) {
            String words = steps.stream()
                    .filter(step -> step.isFor(guest.name()))
                    .map(Step::word)
                    .collect(Collectors.joining(","));
            text.append("STEPS_")
                    .append(guest.name())
                    .append("='")
                    .append(words)
                    .append("'\n");
        }
        return text.toString();
    }

    private List<String> copyClassPath(List<Path> classPath) throws IOException {
        List<String> inGuest = new ArrayList<>();
        for (Path entry : classPath) {
            String name = "%03d-%s".formatted(inGuest.size(), entry.getFileName());
            if (Files.isDirectory(entry)) {
                name += ".jar";
                pack(entry, folder.resolve(name));
            } else {
                Files.copy(entry, folder.resolve(name));
            }
            inGuest.add("/rack/share/" + name);
        }
        return inGuest;
    }

    private static void pack(Path classes, Path jar) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(classes)) {
            files = all.filter(Files::isRegularFile).sorted().toList();
        }
        try (OutputStream out = Files.newOutputStream(jar);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            for (Path file : files) {
                zip.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
                Files.copy(file, zip);
            }
        }
    }
}
