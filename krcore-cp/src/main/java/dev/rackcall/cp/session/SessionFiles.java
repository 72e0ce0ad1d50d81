package dev.rackcall.cp.session;

import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.OwnerLock;
import java.nio.file.Path;

/** The files that an agent process has in its folder. */
public final class SessionFiles {
    private static final String SOCKET = "control-plane.agent";
    private static final String OWNER = "control-plane.owner";

    private SessionFiles() {}

    /** The Unix socket that tenants connect to. */
    public static Path socketIn(Path folder) {
        return folder.toAbsolutePath().resolve(SOCKET);
    }

    /** The lock that the agent process holds. */
    public static Path ownerIn(Path folder) {
        return folder.toAbsolutePath().resolve(OWNER);
    }

    /**
     * Whether an agent process serves in this folder now. A folder that this process may not look into, or that is none, has none.
     *
     * @throws OsException if this process has no descriptors left to look with
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
