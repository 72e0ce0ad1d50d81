package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.SealMemory;
import dev.rackcall.sandbox.SealException;
import dev.rackcall.sandbox.SealSession;
import dev.rackcall.sandbox.SealedScopes;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What a connection's client has sealed in its request arena, as its server sees it: by a ring that the client writes, or by that of a holder which enforces the
 * seals. Thread-safe.
 */
final class ReceivedSeals implements AutoCloseable {
    private final SharedFile file;
    private final MemorySegment memory;
    private final Handshake.Welcome welcome;
    private final Arena arena;
    /** Null until the first sealed scope arrives. */
    private volatile SealedScopes scopes;
    /** Null unless a holder has the seals. */
    private volatile SealSession.Receiver held;

    private boolean joining;
    private boolean closed;

    ReceivedSeals(SharedFile file, MemorySegment memory, Handshake.Welcome welcome, Arena arena) {
        this.file = file;
        this.memory = memory;
        this.welcome = welcome;
        this.arena = arena;
    }

    /** @throws SealException if the server has no memory for them */
    SealedScopes scopes() {
        SealedScopes present = scopes;
        return present != null ? present : make();
    }

    private synchronized SealedScopes make() {
        if (scopes == null) {
            scopes = SealMemory.open(file, memory, welcome.slots())
                    .map(ring -> ring.receiver(arena))
                    .orElseThrow(() -> new SealException("the server has no memory left for the marks of seals"));
        }
        return scopes;
    }

    /** Tells the client that a call no longer needs what it has sealed. The call has claimed the seal. */
    void markDone(long seal) {
        finish(seal, false);
    }

    /** As {@link #markDone}, of a seal that a request names but its call did not read under, as it failed before. */
    void giveUp(long seal) {
        finish(seal, true);
    }

    private void finish(long seal, boolean claims) {
        try {
            SealedScopes received = scopes();
            if (claims) {
                // Or its client could have a seal marked done under which another call is still reading.
                received.claim(seal);
            }
            received.markDone(seal);
        } catch (SealException e) {
            // It is another call's, or none.
            // Without memory for marks the client takes its seal back at the end of the connection.
            return;
        } catch (IllegalStateException e) {
            // Unmapped: the connection, and its seals with it, ended before the handler did.
            if (memory.scope().isAlive()) {
                throw e;
            }
        }
    }

    /** Whether the client cannot lift them: a holder has them, and lives. Costs a system call if there is one. */
    boolean areEnforced() {
        SealSession.Receiver holder = held;
        return holder != null && holder.isHeld();
    }

    /**
     * Announces {@link #join}, which happens once: a client that asks again is refused before that costs anything.
     *
     * @throws SealException if it comes too late
     */
    synchronized void expectJoin() {
        if (scopes != null || joining) {
            throw new SealException(
                    "seals of this connection are in use; they are held from its beginning, or not at all");
        }
        joining = true;
    }

    /**
     * From now on that holder's word counts, and the client's no more. After {@link #expectJoin}. May wait for the holder, some seconds at most.
     *
     * @param session as the client says
     * @throws SealException if there is none, it is for other memory, or it comes too late
     */
    void join(Path holder, byte[] session) {
        SealSession.Receiver receiver =
                SealSession.join(holder, session, arena, file, welcome.request().offset());
        synchronized (this) {
            if (closed || scopes != null) {
                receiver.close();
                throw new SealException(
                        "the connection ended, or was used for sealed calls, before its seals were held");
            }
            scopes = receiver.scopes();
            held = receiver;
        }
    }

    /** The marks' memory is the holder's affair now, if there is one. */
    @Override
    public synchronized void close() {
        closed = true;
        Optional.ofNullable(held).ifPresent(SealSession.Receiver::close);
    }
}
