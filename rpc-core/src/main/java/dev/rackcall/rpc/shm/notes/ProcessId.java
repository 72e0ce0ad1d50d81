package dev.rackcall.rpc.shm.notes;

import dev.rackcall.shm.os.file.FileStatus;
import java.nio.file.Path;

/**
 * A process as it knows itself. In two containers it may be that both programs have pid 1.
 *
 * @param pid in its own pid namespace; 0 if it is not known
 * @param namespace the inode of that namespace; 0 if it is not known
 */
public record ProcessId(int pid, int namespace) {
    private static final ProcessId CURRENT =
            new ProcessId((int) ProcessHandle.current().pid(), namespace(Path.of("/proc/self/ns/pid")));

    /** This process. */
    public static ProcessId current() {
        return CURRENT;
    }

    /** The number of the namespace to which a link such as {@code /proc/PID/ns/pid} leads; 0 if the kernel does not tell. */
    public static int namespace(Path link) {
        // The kernel gives namespaces inodes of 32 bits.
        return FileStatus.ofTarget(link).map(status -> (int) status.inode()).orElse(0);
    }

    public boolean isKnown() {
        return pid > 0;
    }

    /** Whether both may be one process. */
    public boolean matches(ProcessId other) {
        return pid == other.pid && (namespace == other.namespace || namespace == 0 || other.namespace == 0);
    }
}
