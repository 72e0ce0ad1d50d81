package dev.rackcall.cli;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.sandbox.os.Guard;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.HostFeatures.Trial;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.time.Duration;
import java.util.List;

/** Tries what every connection does, and what isolation needs: a container may forbid system calls that the kernel has. Nothing stays installed. */
final class LiveChecks {
    private static final String SUBJECT = "shared memory";
    private static final long BYTES = 4096;
    private static final long PATTERN = 0x5261636b63616c6cL;
    private static final Duration BOUND = Duration.ofSeconds(5);

    private final HostTrials trials;

    LiveChecks(HostTrials trials) {
        this.trials = trials;
    }

    List<Finding> findings() {
        return List.of(memoryPassedOverASocket(), waits(), seals(), guard());
    }

    private static Finding memoryPassedOverASocket() {
        UnixSocket.Pair pair = UnixSocket.pair();
        try (UnixSocket sender = pair.left();
                UnixSocket receiver = pair.right();
                SharedFile file = SharedFile.memfd("rackcall-doctor", BYTES)) {
            file.reserve(0, BYTES);
            try (Mapping mapping = file.map()) {
                mapping.memory().set(JAVA_LONG, 0, PATTERN);
                sender.send(new byte[] {1}, file.fd());
                return receiver.receive(BOUND)
                        .map(LiveChecks::judge)
                        .orElseGet(() -> Finding.problem(SUBJECT, "A Unix socket did not deliver a message in 5 s."));
            }
        } catch (OsException e) {
            return Finding.problem(
                    SUBJECT,
                    e.getMessage() + ". A container's seccomp profile must allow memfd_create and Unix sockets.");
        }
    }

    private static Finding judge(Message message) {
        if (message.fds().length != 1) {
            message.closeFds();
            return Finding.problem(SUBJECT, "A Unix socket did not pass a file descriptor.");
        }
        try (SharedFile received = SharedFile.adopt(message.fds()[0]);
                Mapping mapping = received.map()) {
            return received.isSealed() && mapping.memory().get(JAVA_LONG, 0) == PATTERN
                    ? Finding.ok(SUBJECT, "A memfd was made, sealed, mapped and passed over a Unix socket.")
                    : Finding.problem(
                            SUBJECT, "A memfd that was passed over a Unix socket is unsealed or holds other data.");
        }
    }

    /** Some containers' filters are older than the system call and answer EPERM. */
    private Finding waits() {
        try {
            return trials.nanosecondWaits()
                    ? Finding.ok("waits", "Servers and clients wait for sockets by epoll_pwait2.")
                    : Finding.note(
                            "waits",
                            "Servers and clients wait for sockets by epoll_wait, in whole milliseconds:"
                                    + " epoll_pwait2 is missing (before Linux 5.11) or forbidden by a seccomp filter.");
        } catch (OsException e) {
            return Finding.problem(
                    "waits",
                    e.getMessage() + ". A container's seccomp profile must allow epoll_create1 and epoll_wait.");
        }
    }

    private Finding seals() {
        Trial trial = trials.userfaultfd();
        return trial.works()
                ? Finding.ok("seals", "Calls in mode SEALED are sealed.")
                : Finding.note("seals", "Calls in mode SEALED are sent as snapshots. " + trial.reason());
    }

    private static Finding guard() {
        try {
            Guard.tryBuild();
            return Finding.ok(
                    "guard",
                    "It can be built and loaded: faults by mprotect or protection keys become Java exceptions.");
        } catch (UnsupportedFeatureException e) {
            return Finding.note("guard", e.getMessage() + " Only device-dax seals and protection keys need it.");
        }
    }
}
