package dev.rackcall.cli;

import dev.rackcall.sandbox.os.Guard;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.util.List;

/** Tries what isolation is made of, once: a kernel may have it, and a container forbid it. Nothing here stays installed. */
final class IsolationChecks {
    private static final long BYTES = 4096;

    List<Finding> findings() {
        return List.of(seals(), guard());
    }

    private static Finding seals() {
        try (Userfault userfault = Userfault.open();
                SharedFile file = SharedFile.memfd("rackcall-doctor", BYTES);
                Mapping mapping = file.map()) {
            long address = mapping.memory().address();
            userfault.register(address, BYTES);
            userfault.protect(address, BYTES);
            userfault.unprotect(address, BYTES);
            return Finding.ok("seals", "Calls in mode SEALED are sealed.");
        } catch (UnsupportedFeatureException e) {
            return Finding.note("seals", "Calls in mode SEALED are sent as snapshots. " + e.getMessage());
        } catch (OsException e) {
            return Finding.note("seals", "Calls in mode SEALED are sent as snapshots. " + e.getMessage() + ".");
        }
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
