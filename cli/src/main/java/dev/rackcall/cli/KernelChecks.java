package dev.rackcall.cli;

import dev.rackcall.shm.os.file.HostFeatures.Trial;
import java.util.List;
import java.util.Set;

/**
 * Checks the kernel's features for shared memory and its protection. Versions are from the man pages named at each
 * check.
 */
final class KernelChecks {
    private final HostFiles host;
    private final HostTrials trials;
    private final String release;
    private final KernelVersion version;

    KernelChecks(HostFiles host, HostTrials trials) {
        this.host = host;
        this.trials = trials;
        release = host.text("/proc/sys/kernel/osrelease").orElse("unknown");
        version = KernelVersion.of(host);
    }

    List<Finding> findings() {
        return List.of(kernel(), userfaultfd(), protectionKeys(), mseal());
    }

    /** memfd_create(2), fcntl(2): the seals that pools use are older than 5.1, which adds F_SEAL_FUTURE_WRITE. */
    private Finding kernel() {
        if (!version.isAtLeast(5, 1)) {
            return Finding.problem(
                    "kernel",
                    "Linux " + release + " is too old or not Linux at all; Rackcall needs Linux 5.1 or newer.");
        }
        return version.isAtLeast(6, 10)
                ? Finding.ok("kernel", "Linux " + release + " has everything that Rackcall uses.")
                : Finding.note(
                        "kernel",
                        "Linux " + release
                                + " is new enough; page seals that a hostile process cannot lift need Linux 6.10.");
    }

    /** userfaultfd(2): user-mode-only descriptors need no privilege since 5.11; write protection of shared memory since 5.19. */
    private Finding userfaultfd() {
        Trial trial = trials.userfaultfd();
        if (!trial.works()) {
            return Finding.note("userfaultfd", "A shared page could not be write-protected. " + trial.reason());
        }
        boolean privileged =
                host.number("/proc/sys/vm/unprivileged_userfaultfd").orElse(0) == 1
                        || host.canReadAndWrite("/dev/userfaultfd");
        return Finding.ok(
                "userfaultfd",
                privileged
                        ? "This process may write-protect shared memory, against its own stores and the kernel's."
                        : "This process may write-protect shared memory, against its own stores, without privilege.");
    }

    /** pkeys(7): the processor has them (pku) and the kernel has turned them on (ospke). */
    private Finding protectionKeys() {
        Trial trial = trials.protectionKeys();
        if (trial.works()) {
            return Finding.ok("protection keys", "This process got one.");
        }
        Set<String> flags = Set.of(host.line("/proc/cpuinfo", "flags")
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .orElse("")
                .transform(line -> line.split("\\s+")));
        String why = flags.contains("ospke")
                ? "Processor and kernel support them, but this process got none (" + trial.reason() + ")"
                : flags.contains("pku")
                        ? "The processor supports them, but the kernel has turned them off"
                        : "This processor has none";
        return Finding.note("protection keys", why + "; handlers that use native code lack a second wall.");
    }

    /** mseal(2), since 6.10. */
    private Finding mseal() {
        Trial trial = trials.memorySeals();
        return trial.works()
                ? Finding.ok(
                        "mseal", "A sealed mapping cannot be unmapped or made writable by the process that has it.")
                : Finding.note(
                        "mseal",
                        "Linux " + release + " refuses it (" + trial.reason() + "); Linux 6.10 or newer has it.");
    }
}
