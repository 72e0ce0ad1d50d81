package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.ProcessMemory;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The holder that has this process's userfaultfd. It holds all enforced seals of the process, which may not open
 * another userfaultfd. Guarded by {@link #LOCK} until it is chosen; a thread that has seen the choice under the lock
 * may later read it without the lock.
 */
final class ChosenHolder {
    static final Object LOCK = new Object();

    /** Null until a holder is chosen; then constant. */
    private static Path chosen;

    private ChosenHolder() {}

    static boolean isChosen() {
        return chosen != null;
    }

    static void choose(Path holder) {
        chosen = holder.toAbsolutePath().normalize();
    }

    /** @throws SealException if this process cannot use the holder there */
    static void require(Path holder) {
        if (chosen != null) {
            if (!chosen.equals(holder.toAbsolutePath().normalize())) {
                throw new SealException("the seals of this process are held at " + chosen + " until it ends, not at "
                        + holder + "; name one holder for all its channels");
            }
            return;
        }
        try {
            if (ProcessMemory.of((int) ProcessHandle.current().pid()).hasUserfault()) {
                throw new SealException(
                        "this process holds seals itself, which it could not lift once others are enforced; open channels with"
                                + " enforced seals first, or close those that have sealed scopes");
            }
        } catch (IOException e) {
            throw new SealException("this process cannot see its own descriptors: " + e.getMessage(), e);
        }
    }
}
