package dev.rackcall.sandbox;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeSeal;
import dev.rackcall.shm.os.OsException;
import java.util.List;
import java.util.OptionalLong;

/**
 * The seals of an arena that are in force, and their scopes: what each is for, which wait for a batch, which stay in force until somebody uses their scope. {@link Seals}
 * says what each method promises. Thread-safe, by one lock; allocates nothing once warm.
 */
final class HeldSeals {
    private static final ScopeSeal NOTHING = () -> false;

    private final Arena arena;
    private final SealAuthority table;
    private final ReleaseBatch batch;
    private final KeptSeals kept;
    private final RunsToSeal runs = new RunsToSeal();
    private final Held[] held;
    private final long[] single = new long[1];
    private boolean closed;
    /** One that no seal uses now, or null. */
    private Held spare;

    HeldSeals(Arena arena, SealAuthority authority, int threshold) {
        this.arena = arena;
        this.table = authority;
        this.batch = new ReleaseBatch(table, threshold);
        this.kept = new KeptSeals(table, threshold);
        this.held = new Held[table.capacity()];
    }

    /** What a sealed scope knows of its seal. Reused, so that sealing allocates nothing. */
    private final class Held implements ScopeSeal {
        private Scope scope;
        private Object call;
        private long seal;
        private long bytes;
        private final OpenedPages opened = new OpenedPages();

        @Override
        public boolean openForStore(long ref, long objectBytes) {
            synchronized (HeldSeals.this) {
                boolean kept = !closed && HeldSeals.this.kept.contains(seal) && scope.isOpen();
                return (kept && opened.open(table, seal, Ref.offset(ref), objectBytes)) || releaseIfDone();
            }
        }

        @Override
        public boolean releaseIfDone() {
            synchronized (HeldSeals.this) {
                // A closed scope that waits for its batch can wait on; one that is kept was waiting for this.
                boolean wanted = kept.contains(seal) || (batch.contains(seal) && scope.isOpen());
                if (closed || !wanted || !table.isDone(seal)) {
                    return false;
                }
                releaseNow(seal, SealRingLayout.FREE);
                return true;
            }
        }

        private HeldSeals owner() {
            return HeldSeals.this;
        }

        private void unseal() {
            Scope sealed = scope;
            scope = null;
            opened.forget();
            sealed.unseal();
        }

        @Override
        public String toString() {
            return String.valueOf(call);
        }
    }

    // ---- sealing

    synchronized long seal(Scope scope, Object call) {
        if (scope.arena() != arena) {
            throw new SealException("a scope of " + scope.arena() + " cannot be sealed with the seals of " + arena);
        }
        checkOpen();
        IsolationEvents.SealEvent event = IsolationEvents.sealBegins();
        Held keeper = keeperOf(scope);
        long seal = keeper == null ? 0 : renew(keeper, call);
        if (seal == 0) {
            keeper = sealAnew(scope, call);
            seal = keeper.seal;
        }
        IsolationEvents.sealed(event, arena.id(), keeper.bytes, call);
        return seal;
    }

    /** What has a scope sealed that nobody has used since the call that it was sealed for; null if nothing has. */
    private Held keeperOf(Scope scope) {
        return scope.sealedByOr(NOTHING) instanceof Held by
                        && by.owner() == this
                        && by.scope == scope
                        && kept.contains(by.seal)
                        && scope.isOpen()
                ? by
                : null;
    }

    /** The pages are closed, and were since the last call. */
    private long renew(Held by, Object call) {
        long renewed = by.opened.closeAgain(table) ? table.renew(by.seal) : 0;
        if (renewed == 0) {
            releaseNow(by.seal, SealRingLayout.FREE);
        } else {
            kept.remove(by.seal);
            by.seal = renewed;
            by.call = call;
        }
        return renewed;
    }

    private Held sealAnew(Scope scope, Object call) {
        Held by = spare == null ? new Held() : spare;
        spare = null;
        by.call = call;
        scope.seal(by);
        long seal;
        try {
            runs.read(arena, scope.firstRun());
            seal = sealRuns();
        } catch (RuntimeException e) {
            scope.unseal();
            throw e;
        }
        by.scope = scope;
        by.seal = seal;
        by.bytes = runs.totalBytes();
        int index = SealRingLayout.index(seal);
        // What the index had before serves next.
        spare = held[index];
        held[index] = by;
        return by;
    }

    private long sealRuns() {
        try {
            return table.seal(runs.refs(), runs.bytes(), runs.count());
        } catch (SealException e) {
            if (flush() + releaseKept(0) == 0) {
                throw e;
            }
            return table.seal(runs.refs(), runs.bytes(), runs.count());
        }
    }

    // ---- releasing

    synchronized boolean isDone(long seal) {
        return table.isDone(seal);
    }

    synchronized boolean tryRelease(long seal) {
        checkHeld(seal);
        if (!table.isDone(seal)) {
            return false;
        }
        releaseNow(seal, SealRingLayout.FREE);
        return true;
    }

    synchronized SealException notDone(long seal, String when) {
        Object call = held[SealRingLayout.index(seal)].call;
        return new SealException("the receiver of " + SealRingLayout.describe(seal) + ", a scope of " + arena + " for "
                + call + ", has not marked it done" + when
                + "; wait longer, close the scope and go on without its memory, or revoke the seal");
    }

    synchronized void releaseLater(long seal) {
        checkHeld(seal);
        if (batch.add(seal)) {
            flush();
        }
    }

    synchronized int flush() {
        int done = batch.takeDone();
        if (done > 0) {
            release(batch.taken(), done, SealRingLayout.FREE);
        }
        return done;
    }

    synchronized void releaseWhenUsed(long seal) {
        checkHeld(seal);
        if (!table.isDone(seal)) {
            releaseLater(seal);
            return;
        }
        Scope scope = held[SealRingLayout.index(seal)].scope;
        if (scope.isExposed() || !scope.isOpen()) {
            releaseNow(seal, SealRingLayout.FREE);
        } else if (!kept.contains(seal) && kept.add(seal)) {
            releaseKept(seal);
        }
    }

    private int releaseKept(long besides) {
        int taken = kept.take(besides);
        if (taken > 0) {
            release(kept.taken(), taken, SealRingLayout.FREE);
        }
        return taken;
    }

    synchronized int kept() {
        return kept.size();
    }

    synchronized int waiting() {
        return batch.size();
    }

    synchronized void revoke(long seal) {
        checkHeld(seal);
        releaseNow(seal, SealRingLayout.REVOKED);
    }

    private void releaseNow(long seal, int endState) {
        single[0] = seal;
        release(single, 1, endState);
    }

    private void release(long[] seals, int count, int endState) {
        IsolationEvents.ReleaseEvent event = IsolationEvents.releaseBegins();
        int passes;
        try {
            passes = table.release(seals, count, endState);
        } catch (OsException e) {
            throw new SealException("seals of " + arena + " cannot be released: " + e.getMessage(), e);
        } catch (SealException e) {
            if (table.hasEnded()) {
                end();
                return;
            }
            throw e;
        }
        for (int i = 0; i < count; i++) {
            batch.released(seals[i]);
            kept.remove(seals[i]);
            held[SealRingLayout.index(seals[i])].unseal();
        }
        IsolationEvents.released(event, arena.id(), count, passes, endState == SealRingLayout.REVOKED);
    }

    private void checkHeld(long seal) {
        checkOpen();
        if (!table.isHeld(seal)) {
            throw new SealException(SealRingLayout.describe(seal) + " is not in force; was it released before?");
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new SealException("the seals of " + arena + " ended with their connection");
        }
    }

    /**
     * Adds the names of the scopes that are sealed, or of the one at an address. Opens those whose call has ended, so that the store can be repeated.
     *
     * @return whether there was one of those
     */
    synchronized boolean nameSealed(OptionalLong address, List<String> names) {
        if (closed) {
            return false;
        }
        boolean opened = false;
        long offset = address.isPresent() ? address.getAsLong() - arena.memory().address() : 0;
        for (int i = 0; i < held.length; i++) {
            Held by = held[i];
            if (by != null && by.scope != null && (address.isEmpty() || table.holds(i, offset))) {
                boolean isKept = kept.contains(by.seal);
                names.add("a scope of " + arena + ", sealed by " + by.call + (isKept ? ", which has ended" : ""));
                if (isKept) {
                    releaseNow(by.seal, SealRingLayout.FREE);
                    opened = true;
                }
            }
        }
        return opened;
    }

    /** Opens everything and unseals all scopes; returns whether that was still to be done. */
    synchronized boolean end() {
        if (closed) {
            return false;
        }
        closed = true;
        table.close();
        for (Held by : held) {
            if (by != null && by.scope != null) {
                by.unseal();
            }
        }
        return true;
    }
}
