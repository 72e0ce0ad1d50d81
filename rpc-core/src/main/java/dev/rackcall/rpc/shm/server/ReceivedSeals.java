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
 * The seals of a client's request arena as its server sees them: in a ring that the client writes, or in the ring of a
 * holder that enforces them. Thread-safe.
 */
final class ReceivedSeals implements AutoCloseable {
    private final SharedFile file;
    private final MemorySegment memory;
    private final Handshake.ServerHello serverHello;
    private final Arena arena;
    /** Null until the first sealed scope arrives. */
    private volatile SealedScopes scopes;
    /** Null unless a holder has the seals. */
    private volatile SealSession.Receiver held;

    private boolean joining;
    private boolean closed;

    ReceivedSeals(SharedFile file, MemorySegment memory, Handshake.ServerHello serverHello, Arena arena) {
        this.file = file;
        this.memory = memory;
        this.serverHello = serverHello;
        this.arena = arena;
    }

    /** @throws SealException if the server has no memory for them */
    SealedScopes scopes() {
        SealedScopes present = scopes;
        return present != null ? present : make();
    }

    private synchronized SealedScopes make() {
        if (scopes == null) {
            scopes = SealMemory.open(file, memory, serverHello.slots())
                    .map(ring -> ring.receiver(arena))
                    .orElseThrow(() -> new SealException("the server has no memory left for the marks of seals"));
        }
        return scopes;
    }

    /** Tells the client that a call no longer needs a seal, which the call has claimed. */
    void markDone(long seal) {
        finish(seal, false);
    }

    /** As {@link #markDone}, for a seal that a failed request names without having claimed it. */
    void giveUp(long seal) {
        finish(seal, true);
    }

    private void finish(long seal, boolean claims) {
        try {
            SealedScopes received = scopes();
            if (claims) {
                // Otherwise a client could have a seal marked done while another call reads under it.
                received.claim(seal);
            }
            received.markDone(seal);
        } catch (SealException e) {
            // The seal is another call's, or none. Without memory for marks the client takes its seal back when the
            // connection ends.
            return;
        } catch (IllegalStateException e) {
            // Unmapped: the connection ended before the handler, and its seals with it.
            if (memory.scope().isAlive()) {
                throw e;
            }
        }
    }

    /**
     * Whether a live holder has the seals, so that the client cannot lift them. Takes a system call if there is a
     * holder.
     */
    boolean areEnforced() {
        SealSession.Receiver holder = held;
        return holder != null && holder.isHeld();
    }

    /**
     * Announces {@link #join}, which happens once: a second request is refused before it costs anything.
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
     * Switches from the client's ring to the holder's. Called after {@link #expectJoin}. May wait some seconds for the
     * holder.
     *
     * @param session the session's number, as the client sent it
     * @throws SealException if there is no such session, it is for other memory, or it comes too late
     */
    void join(Path holder, byte[] session) {
        SealSession.Receiver receiver = SealSession.join(
                holder, session, arena, file, serverHello.request().offset());
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

    /** The marks' memory belongs to the holder, if there is one. */
    @Override
    public synchronized void close() {
        closed = true;
        Optional.ofNullable(held).ifPresent(SealSession.Receiver::close);
    }
}
