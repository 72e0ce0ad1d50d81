package dev.rackcall.rack;

import dev.rackcall.rack.guest.Step;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;

/**
 * The folder with the guests' programs: the project's jars and those that they need, guest.sh, and its configuration.
 */
final class GuestShare {
    /** The first compiler only and no monitoring, which suits programs of a minute under emulation. */
    private static final List<String> JVM_FLAGS =
            List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx384m");

    private GuestShare() {}

    /**
     * Fills {@code folder}.
     *
     * @param classPath jars and folders with classes
     * @param flags of the JVM
     */
    static Path fill(Path folder, List<Path> classPath, List<String> flags, List<GuestSpec> guests, Set<Step> steps)
            throws IOException {
        Rack.deleteFolder(folder);
        Files.createDirectories(folder);
        Files.write(folder.resolve("guest.sh"), GuestImage.resource("guest.sh"));
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
        Files.writeString(folder.resolve("guest.conf"), configuration(inGuest, flags, guests, steps));
        return folder;
    }

    static String configuration(List<String> classPath, List<String> flags, List<GuestSpec> guests, Set<Step> steps) {
        StringBuilder text = new StringBuilder();
        text.append("JAVA_FLAGS='" + String.join(" ", JVM_FLAGS) + " " + String.join(" ", flags) + "'\n");
        text.append("CLASS_PATH='" + String.join(":", classPath) + "'\n");
        for (GuestSpec guest : guests) {
            String words = steps.stream()
                    .filter(step -> step.isFor(guest.name()))
                    .map(Step::word)
                    .collect(Collectors.joining(","));
            text.append("STEPS_" + guest.name() + "='" + words + "'\n");
        }
        return text.toString();
    }

    private static void pack(Path classes, Path jar) throws IOException {
        int status = ToolProvider.findFirst("jar")
                .orElseThrow()
                .run(System.out, System.err, "-c", "-M", "-f", jar.toString(), "-C", classes.toString(), ".");
        if (status != 0) {
            throw new IOException("jar cannot pack " + classes);
        }
    }
}
