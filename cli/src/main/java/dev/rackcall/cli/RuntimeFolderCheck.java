package dev.rackcall.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;

/** The folder where servers of this user leave their sockets and lock files: whose it is and who may look in. */
final class RuntimeFolderCheck {
    private static final String SUBJECT = "runtime folder";

    /** sun_path of unix(7) holds 108 bytes with the closing zero; this much is left for a channel's name. */
    private static final int LONGEST_FOLDER = 107 - "/".length() - 32;

    private final Path folder;
    private final String user;

    RuntimeFolderCheck(Path folder, String user) {
        this.folder = folder;
        this.user = user;
    }

    static RuntimeFolderCheck of(Map<String, String> environment) {
        return new RuntimeFolderCheck(location(environment), System.getProperty("user.name"));
    }

    private static Path location(Map<String, String> environment) {
        String chosen = environment.getOrDefault("RACKCALL_DIR", "");
        if (!chosen.isEmpty()) {
            return Path.of(chosen);
        }
        String session = environment.getOrDefault("XDG_RUNTIME_DIR", "");
        return session.isEmpty()
                ? Path.of(System.getProperty("java.io.tmpdir"), "rackcall-" + userNumber())
                : Path.of(session, "rackcall");
    }

    private static String userNumber() {
        try {
            return Files.getAttribute(Path.of("/proc/self"), "unix:uid").toString();
        } catch (IOException | UnsupportedOperationException e) {
            return "unknown";
        }
    }

    Finding finding() {
        if (folder.toString().length() > LONGEST_FOLDER) {
            return Finding.problem(
                    SUBJECT,
                    folder + " is " + folder.toString().length() + " characters long; more than " + LONGEST_FOLDER
                            + " leave no room for a socket's name. Set RACKCALL_DIR to a shorter one.");
        }
        try {
            return judge(Files.readAttributes(folder, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS));
        } catch (IOException e) {
            return absent();
        }
    }

    private Finding judge(PosixFileAttributes attributes) {
        String permissions = PosixFilePermissions.toString(attributes.permissions());
        if (!attributes.isDirectory()) {
            return Finding.problem(SUBJECT, folder + " is no folder; remove it or set RACKCALL_DIR.");
        }
        if (!attributes.owner().getName().equals(user)) {
            return Finding.problem(
                    SUBJECT,
                    folder + " belongs to " + attributes.owner().getName() + ", not to " + user
                            + "; set RACKCALL_DIR to a folder of your own.");
        }
        return permissions.equals("rwx------")
                ? Finding.ok(SUBJECT, folder + " is yours alone.")
                : Finding.problem(SUBJECT, folder + " is open to others (" + permissions + "): chmod 700 " + folder);
    }

    private Finding absent() {
        Path parent = folder.toAbsolutePath().getParent();
        return parent != null && Files.isWritable(parent)
                ? Finding.ok(SUBJECT, "The first server makes " + folder + ".")
                : Finding.problem(
                        SUBJECT,
                        folder + " is not there and cannot be made; set RACKCALL_DIR to a folder of your own.");
    }
}
