package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.Guard;
import dev.rackcall.shm.SealedScopeException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;

/** Finds out which scope a refused store was for. All seals of this process are known here while they are in use. */
final class SealViolations {
    private static final int MAX_NAMED = 4;
    private static final List<Seals> LIVE = new CopyOnWriteArrayList<>();

    private SealViolations() {}

    static void watch(Seals seals) {
        LIVE.add(seals);
    }

    static void forget(Seals seals) {
        LIVE.remove(seals);
    }

    static SealedScopeException explain(InternalError error) {
        // Only the guard knows the address.
        OptionalLong address = Guard.installed().map(Guard::takeFault).orElse(OptionalLong.empty());
        List<String> names = new ArrayList<>();
        boolean opened = false;
        for (Seals seals : LIVE) {
            opened |= seals.nameSealed(address, names);
        }
        if (names.isEmpty()) {
            throw error;
        }
        String all = String.join("; ", names.subList(0, Math.min(MAX_NAMED, names.size())))
                + (names.size() > MAX_NAMED ? "; and " + (names.size() - MAX_NAMED) + " more" : "");
        IsolationEvents.violation(IsolationEvents.Violation.SEAL, all, "a store past the flyweights");
        return new SealedScopeException(
                "a store was refused and changed nothing: "
                        + (address.isPresent() ? "it was to " : "it was to a sealed scope; sealed are ") + all
                        + (opened
                                ? "; pages stay closed after a call until somebody uses the scope by its objects, and those are open"
                                        + " now: store again"
                                : "; wait until that call has ended before you change the scope or pass it sealed again, or use another"),
                error);
    }
}
