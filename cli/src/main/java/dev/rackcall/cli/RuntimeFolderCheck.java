package dev.rackcall.cli;

import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.shm.os.Uid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;

/** Checks the owner and the permissions of the folder where this user's servers keep their sockets and lock files. */
final class RuntimeFolderCheck {
    private static final String SUBJECT = "runtime folder";

    /** sun_path of unix(7) holds 108 bytes with the closing zero; this much is left for a channel's name. */
    private static final int LONGEST_FOLDER = 107 - "/".length() - 32;

    private final Path folder;
    private final int uid;

    /**
     * A check.
     *
     * @param uid of the user whose servers are to use the folder; a container's user may have no name
     */
    RuntimeFolderCheck(Path folder, int uid) {
        this.folder = folder;
        this.uid = uid;
    }

    static RuntimeFolderCheck ofThisUser() {
        return new RuntimeFolderCheck(RuntimeDirectory.defaultPath(), Uid.current());
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

    private Finding judge(PosixFileAttributes attributes) throws IOException {
        String permissions = PosixFilePermissions.toString(attributes.permissions());
        if (!attributes.isDirectory()) {
            return Finding.problem(SUBJECT, folder + " is no folder; remove it or set RACKCALL_DIR.");
        }
        int owner = (Integer) Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        if (owner != uid) {
            return Finding.problem(
                    SUBJECT,
                    folder + " belongs to " + attributes.owner().getName() + " (uid " + owner + "), not to uid " + uid
                            + "; set RACKCALL_DIR to a folder of your own.");
        }
        // As RuntimeDirectory judges.
        if (permissions.charAt(4) == 'w' || permissions.charAt(7) == 'w') {
            return Finding.problem(
                    SUBJECT, folder + " is writable by others (" + permissions + "): chmod 700 " + folder);
        }
        return permissions.equals("rwx------")
                ? inUse()
                : Finding.note(
                        SUBJECT,
                        folder + " has the permissions " + permissions
                                + "; servers without an access list need only rwx------: chmod 700 " + folder);
    }

    private Finding inUse() {
        RuntimeDirectory directory = RuntimeDirectory.at(folder);
        long dead = directory.all().stream().filter(server -> !server.isAlive()).count();
        String served = folder + " is yours alone; channels served: "
                + directory.channels().size() + ".";
        return dead == 0
                ? Finding.ok(SUBJECT, served)
                : Finding.note(SUBJECT, served + " Dead servers have left files of " + dead + ": ./rackcall clean");
    }

    /**
     * Creates a folder in the closest existing parent, because permissions do not show what a file system accepts (as
     * in /proc).
     */
    private Finding absent() {
        Path present = folder.toAbsolutePath().getParent();
        while (present != null && !Files.exists(present)) {
            present = present.getParent();
        }
        try {
            Files.delete(Files.createTempDirectory(present, "rackcall-doctor"));
            return Finding.ok(SUBJECT, "The first server makes " + folder + ".");
        } catch (IOException e) {
            return Finding.problem(
                    SUBJECT, folder + " is not there and cannot be made; set RACKCALL_DIR to a folder of your own.");
        }
    }
}
