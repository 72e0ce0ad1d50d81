package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.ProcessMemory;
import java.io.IOException;
import java.nio.file.Path;

/**
 * To which holder this process has given its userfaultfd: the one for all its enforced seals, since it may not open another. Guarded by
 * {@link #LOCK} until there is one; who has seen that, holding the lock, may read on without it.
 */
final class ChosenHolder {
    static final Object LOCK = new Object();

    /** Null until there is one; then for good. */
    private static Path chosen;

    private ChosenHolder() {}

    static boolean isChosen() {
        return chosen != null;
    }

    static void choose(Path holder) {
        chosen = holder.toAbsolutePath().normalize();
    }

    /** @throws SealException if this process cannot have seals held there, whatever the holder says */
    static void require(Path holder) {
        if (chosen != null) {
            if (!chosen.equals(holder.toAbsolutePath().normalize())) {
                throw new SealException("this process has its seals held at " + chosen
                        + ", for as long as it lives, not at " + holder + "; name one holder for all its channels");
            }
            return;
        }
        try {
            if (ProcessMemory.of((int) ProcessHandle.current().pid()).hasUserfault()) {
                throw new SealException(
                        "this process holds seals itself, which it could not lift any more once others are enforced; open channels with"
                                + " enforced seals first, or close those that have sealed scopes");
            }
        } catch (IOException e) {
            throw new SealException("this process cannot see its own descriptors: " + e.getMessage(), e);
        }
    }
}
