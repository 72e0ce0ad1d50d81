package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.Guard;
import dev.rackcall.sandbox.os.PageProtection;
import dev.rackcall.sandbox.os.PageProtector;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;

/** By what a process closes pages of its own: as its kind of memory allows. */
final class Protectors {
    private Protectors() {}

    /** @throws UnsupportedFeatureException if this host cannot write-protect that kind of memory */
    static PageProtector of(SealSpec spec) {
        MemorySegment memory = spec.arena().memory();
        if (spec.kind() == SharedFile.Kind.DAX) {
            // Without it the first refused store would be the end of the JVM.
            Guard.install();
            return PageProtection.of(memory.address(), memory.byteSize());
        }
        Userfault userfault = Userfault.open();
        try {
            userfault.register(memory.address(), memory.byteSize());
            return userfault;
        } catch (OsException e) {
            userfault.close();
            throw new UnsupportedFeatureException(
                    spec.arena() + " of " + spec.kind() + " memory cannot be sealed: " + e.getMessage(), e);
        }
    }
}
