package dev.rackcall.rpc.shm.client;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeRuns;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * The scope into which a call's handler may store. If the handler had a copy, the answer contains its stores; they are
 * applied here before the caller gets the result. One per slot, created for the slot's first such call; confined to the
 * thread that holds the slot.
 */
final class WrittenScope {
    /** Minimum bytes of a piece: its place, its length, and one byte. */
    private static final int LEAST_PIECE = 2 * Long.BYTES + 1;

    private final ClientMemory arenas;
    private final ScopeRuns runs = new ScopeRuns();
    private long firstRun = Ref.NULL;
    /** Empty if the arguments were attached without their scope. */
    private Optional<Scope> scope = Optional.empty();

    WrittenScope(ClientMemory arenas) {
        this.arenas = arenas;
    }

    void of(long newFirstRun, Optional<Scope> newScope) {
        firstRun = newFirstRun;
        scope = newScope;
    }

    void forget() {
        firstRun = Ref.NULL;
        scope = Optional.empty();
    }

    /**
     * Applies the stores in an answer. If the caller has closed the scope in the meantime, only reads them.
     *
     * @throws PayloadException if the server stored outside the scope's objects
     * @throws dev.rackcall.shm.SealedScopeException if another call has the scope sealed
     */
    void store(PayloadReader in) {
        if (firstRun == Ref.NULL) {
            throw new PayloadException("stores, but the call passed no scope to store in");
        }
        boolean open = isOpen();
        for (int left = in.readCount(LEAST_PIECE); left > 0; left--) {
            long ref = in.readLong();
            long length = in.readLong();
            if (open) {
                store(in, ref, length);
            } else {
                in.skip(length);
            }
        }
        runs.clear();
    }

    private boolean isOpen() {
        try {
            arenas.refs().window(firstRun);
            runs.read(arenas.argumentArena(firstRun), firstRun);
            return true;
        } catch (RefException e) {
            return false;
        }
    }

    private void store(PayloadReader in, long ref, long length) {
        if (!isInside(ref, length)) {
            throw new PayloadException(
                    "a store of " + length + " bytes at " + Ref.describe(ref) + ", outside the scope that was passed");
        }
        if (scope.isPresent() && scope.get().hasSeal()) {
            scope.get().checkStore(ref, length);
        }
        Arena arena = arenas.argumentArena(firstRun);
        MemorySegment memory = arena.memory();
        in.read(memory, Ref.offset(ref), length);
    }

    private boolean isInside(long ref, long length) {
        for (int i = 0; i < runs.count(); i++) {
            long into = Ref.offset(ref) - runs.objectsAt(i);
            boolean isSameRun = (ref ^ runs.ref(i)) >>> Ref.OFFSET_BITS == 0;
            if (isSameRun && into >= 0 && length >= 0 && into <= runs.objectBytes(i) - length) {
                return true;
            }
        }
        return false;
    }
}
