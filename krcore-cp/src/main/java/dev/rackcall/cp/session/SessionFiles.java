package dev.rackcall.cp.session;

import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.OwnerLock;
import java.nio.file.Path;

/** The files of an agent process in its folder. */
public final class SessionFiles {
    private static final String SOCKET = "control-plane.agent";
    private static final String OWNER = "control-plane.owner";

    private SessionFiles() {}

    /** The Unix socket that tenants connect to. */
    public static Path socketIn(Path folder) {
        return folder.toAbsolutePath().resolve(SOCKET);
    }

    /** The lock that a living agent process holds. */
    public static Path ownerIn(Path folder) {
        return folder.toAbsolutePath().resolve(OWNER);
    }

    /**
     * Whether an agent process serves in this folder now. Returns false if the folder does not exist or is
     * inaccessible.
     *
     * @throws OsException if this process has no file descriptors left for the check
     */
    public static boolean isServed(Path folder) {
        try {
            return OwnerLock.isHeld(ownerIn(folder));
        } catch (OsException e) {
            return switch (e.errno()) {
                case Errno.EACCES, Errno.EPERM, Errno.ENOTDIR, Errno.ELOOP -> false;
                default -> throw e;
            };
        }
    }
}
