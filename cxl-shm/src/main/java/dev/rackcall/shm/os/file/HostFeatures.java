package dev.rackcall.shm.os.file;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.rackcall.shm.os.Abi;
import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.Linkage;
import dev.rackcall.shm.os.OsException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Finds out what this process can do on this host, by trying it. A container may forbid what the kernel supports, and
 * version numbers do not show that. Each trial undoes its effects and takes microseconds.
 */
public final class HostFeatures {
    private static final long HUGE_PAGE_BYTES = 2L << 20;
    private static final long SMALL_BYTES = 4096;

    private HostFeatures() {}

    /**
     * The result of a trial.
     *
     * @param works whether it succeeded
     * @param reason for people; empty on success
     */
    public record Trial(boolean works, String reason) {
        public static Trial success() {
            return new Trial(true, "");
        }

        public static Trial failure(String reason) {
            return new Trial(false, reason);
        }
    }

    /** Takes a huge page of 2 MiB for a memfd, writes to it, and gives it back. */
    public static Trial hugePages() {
        try (SharedFile file = SharedFile.hugeMemfd("rackcall-trial", HUGE_PAGE_BYTES);
                Mapping mapping = file.map()) {
            mapping.memory().set(JAVA_BYTE, 0, (byte) 1);
            return Trial.success();
        } catch (OsException e) {
            return Trial.failure(e.getMessage());
        }
    }

    /** Puts a shared page on the first memory node, by libnuma. */
    public static Trial memoryNodes() {
        Optional<Numa> numa = Numa.available();
        if (numa.isEmpty()) {
            return Trial.failure("libnuma.so.1 is not installed, or the kernel has no NUMA");
        }
        try (SharedFile file = SharedFile.memfd("rackcall-trial", SMALL_BYTES);
                Mapping mapping = file.map()) {
            numa.get().prefer(mapping.memory(), 0);
            file.reserve(0, SMALL_BYTES);
            return Trial.success();
        } catch (OsException e) {
            return Trial.failure(e.getMessage());
        }
    }

    /** Takes a memory protection key (pkeys(7)) and gives it back. */
    public static Trial protectionKeys() {
        CallState state = CallState.current();
        MemorySegment errno = state.errnoSegment();
        long key = Linkage.syscall(errno, Abi.current().pkeyAlloc(), 0, 0, 0, 0, 0);
        if (key < 0) {
            return Trial.failure("pkey_alloc: " + Errno.name(state.errno()));
        }
        Linkage.syscall(errno, Abi.current().pkeyFree(), key, 0, 0, 0, 0);
        return Trial.success();
    }

    /** Seals an empty range, which succeeds only on a kernel with mseal(2). */
    public static Trial memorySeals() {
        CallState state = CallState.current();
        return Linkage.syscall(state.errnoSegment(), Abi.SYS_MSEAL, 0, 0, 0, 0, 0) == 0
                ? Trial.success()
                : Trial.failure("mseal: " + Errno.name(state.errno()));
    }

    /** The lowest limit in bytes that a control group above this process sets; empty if none does. */
    public static OptionalLong memoryLimit() {
        return ControlGroups.ofThisProcess().limitBytes();
    }
}
