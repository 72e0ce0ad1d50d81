package dev.rackcall.cli;

import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.HostFeatures;
import dev.rackcall.shm.os.file.HostFeatures.Trial;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.EventPoll;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** What {@code doctor} tries on the host; tests substitute other results. */
class HostTrials {
    private static final long BYTES = 4096;

    Trial hugePages() {
        return HostFeatures.hugePages();
    }

    Trial memoryNodes() {
        return HostFeatures.memoryNodes();
    }

    Trial protectionKeys() {
        return HostFeatures.protectionKeys();
    }

    Trial memorySeals() {
        return HostFeatures.memorySeals();
    }

    /** Write-protects a shared page, and opens it again. */
    Trial userfaultfd() {
        try (SharedFile file = SharedFile.memfd("rackcall-trial", BYTES)) {
            file.reserve(0, BYTES);
            try (Mapping mapping = file.map();
                    Userfault userfault = Userfault.open()) {
                long address = mapping.memory().address();
                userfault.register(address, BYTES);
                userfault.protect(address, BYTES);
                userfault.unprotect(address, BYTES);
                userfault.unregister(address, BYTES);
                return Trial.success();
            }
        } catch (UnsupportedFeatureException e) {
            return Trial.failure(e.getMessage());
        } catch (OsException e) {
            return Trial.failure(e.getMessage() + ".");
        }
    }

    /** Why userfaultfd(2) cannot be opened: its errno. Empty if it can. */
    OptionalInt userfaultfdErrno() {
        try (Userfault _ = Userfault.open()) {
            return OptionalInt.empty();
        } catch (UnsupportedFeatureException e) {
            return e.getCause() instanceof OsException cause ? OptionalInt.of(cause.errno()) : OptionalInt.empty();
        }
    }

    /** Whether waits last nanoseconds: epoll_pwait2(2). If not, it failed by ENOSYS or EPERM. */
    boolean nanosecondWaits() {
        try (EventPoll poll = EventPoll.create()) {
            poll.await(0);
            return poll.waitsForNanoseconds();
        }
    }

    OptionalLong memoryLimit() {
        return HostFeatures.memoryLimit();
    }
}
