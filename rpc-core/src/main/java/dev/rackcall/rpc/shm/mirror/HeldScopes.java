package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.client.MirroredScopes;
import dev.rackcall.rpc.shm.client.ShmClientConnection;
import dev.rackcall.rpc.shm.protocol.ControlOp;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeEnd;
import dev.rackcall.shm.types.SharedObject;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A client's shared scopes if its channel's clients share no memory: its own scopes that are open for others, and
 * copies of other clients' scopes. The server is the home of both. Thread-safe.
 *
 * <p>Each answer that names another client's object begins a view, which requests each page again, once.
 */
final class HeldScopes implements MirroredScopes, ScopeEnd {
    /** Bound on waiting for the home. */
    private static final Duration BOUND = Duration.ofSeconds(10);
    /** An arena's number is rarely reused: not twice while a Ref is followed. */
    private static final int ATTEMPTS = 3;
    /** The copies of this many recently departed nodes stay readable. */
    private static final int KEPT = 8;

    private final ShmClientConnection connection;
    private final ClientMirror mirror;
    private final Handshake.ServerHello serverHello;
    private final Arena requestArena;
    private final RefSpace own;
    private final RefSpace standing = new View(0);
    private final AtomicLong epochs = new AtomicLong(1);
    private final Map<Integer, HeldArena> arenas = new ConcurrentHashMap<>();
    /** Departed nodes' copies, oldest first. Guarded by itself. */
    private final Deque<HeldArena> left = new ArrayDeque<>();
    /** Refs of the first runs of scopes that others may read. */
    private final Set<Long> open = ConcurrentHashMap.newKeySet();
    /** Scopes that were not closed. Those that are being reset count, but are not in {@link #open}. */
    private final AtomicInteger notClosed = new AtomicInteger();

    HeldScopes(ShmClientConnection connection, ClientMirror mirror) {
        this.connection = connection;
        this.mirror = mirror;
        this.serverHello = connection.end.serverHello();
        this.requestArena = connection.arenas.requestArena();
        this.own = connection.arenas.refs();
    }

    // ---- own scopes

    @Override
    public Scope open(long firstBytes) {
        Scope scope = requestArena.newScope(firstBytes, standing);
        try {
            share(scope.firstRun());
            scope.onEnd(this);
            notClosed.incrementAndGet();
            return scope;
        } catch (RuntimeException | Error e) {
            scope.close();
            throw e;
        }
    }

    private void share(long firstRun) {
        connection.ask(ControlOp.SHARE, firstRun, 0, BOUND, _ -> true);
        open.add(firstRun);
    }

    @Override
    public boolean ends(long firstRun) {
        try {
            return resets(firstRun);
        } finally {
            notClosed.decrementAndGet();
        }
    }

    @Override
    public boolean resets(long firstRun) {
        open.remove(firstRun);
        try {
            return connection.ask(ControlOp.UNSHARE, firstRun, 0, endBound(), _ -> true);
        } catch (RpcException e) {
            // The home may be busy. It handles this request later and may read the scope until then, so the scope's
            // memory stays allocated until the connection ends.
            connection.control(ControlOp.UNSHARE, firstRun);
            return false;
        }
    }

    /** Closing a scope takes no longer than a call may. */
    private Duration endBound() {
        Duration call = connection.spec.defaultTimeout();
        return call.compareTo(BOUND) < 0 ? call : BOUND;
    }

    @Override
    public void begins(long firstRun) {
        share(firstRun);
    }

    @Override
    public boolean carryOver(long ref, boolean mayStay) {
        boolean stays = mayStay && (open.isEmpty() || !isOpen(ref));
        return mirror.carryScope(
                requestArena, serverHello.request().offset(), ref, stays ? MirrorBell.FETCHED_FROM : Long.MAX_VALUE);
    }

    @Override
    public void publish(long ref) {
        carryOver(ref, false);
        // This request follows the pushed pages: once it is answered, they have arrived.
        share(requestArena.scopeOf(ref));
    }

    @Override
    public boolean isOpen(long ref) {
        return Ref.arenaId(ref) == requestArena.id() && open.contains(requestArena.scopeOf(ref));
    }

    @Override
    public boolean hasOpen() {
        return notClosed.get() > 0;
    }

    // ---- others' scopes

    @Override
    public RefSpace standing() {
        return standing;
    }

    @Override
    public RefSpace view() {
        return new View(epochs.incrementAndGet());
    }

    @Override
    public boolean isSpaceOf(Object sharedObject) {
        return SharedObject.spaceOf(sharedObject) instanceof View view && view.holder() == this;
    }

    @Override
    public boolean isIn(MemorySegment.Scope mapped) {
        for (HeldArena arena : arenas.values()) {
            if (arena.isIn(mapped)) {
                return true;
            }
        }
        synchronized (left) {
            return left.stream().anyMatch(arena -> arena.isIn(mapped));
        }
    }

    /** The home reports a closed scope in that arena, or that its writer has left. Never waits. */
    void stale(long number) {
        int id = (int) number;
        HeldArena arena = arenas.get(id);
        if (arena == null) {
            return;
        }
        arena.isStale();
        if ((number & NodeScopes.GONE) != 0) {
            forget(id, arena);
        }
    }

    /** The number may name another arena from now on. The copy stays readable for a while. */
    private void forget(int id, HeldArena arena) {
        if (!arenas.remove(id, arena)) {
            return;
        }
        arena.writerHasLeft();
        synchronized (left) {
            left.addLast(arena);
            Iterator<HeldArena> oldest = left.iterator();
            for (int more = left.size() - KEPT; more > 0; more--) {
                if (oldest.next().unmap()) {
                    oldest.remove();
                }
            }
        }
    }

    private RefSpace.Window window(long ref, long since) {
        int id = Ref.arenaId(ref);
        if (ref == Ref.NULL
                || id == serverHello.request().id()
                || id == serverHello.reply().id()) {
            return own.window(ref);
        }
        for (int i = 0; i < ATTEMPTS; i++) {
            HeldArena arena = held(id);
            RefSpace.Window window = arena.window(ref, since);
            if (window != null) {
                return window;
            }
            // Its writer has left, and another may have joined.
            forget(id, arena);
        }
        throw Status.Code.INTERNAL
                .with(
                        "the server says another length of arena %d each of %d times that it is asked; do both sides use the same release?",
                        id, ATTEMPTS)
                .asException();
    }

    private HeldArena held(int id) {
        HeldArena arena = arenas.get(id);
        return arena != null ? arena : arenas.computeIfAbsent(id, number -> new HeldArena(number, this::ask, epochs));
    }

    private HeldArena.Answer ask(long ref, int bytes) {
        try {
            return connection.ask(
                    ControlOp.FETCH,
                    ref,
                    bytes,
                    BOUND,
                    in -> new HeldArena.Answer(in.readLong(), MemorySegment.ofArray(in.readBytes())));
        } catch (RpcException e) {
            if (e.code() == Status.Code.FAILED_PRECONDITION) {
                throw new RefException(e.status().description());
            }
            throw e;
        }
    }

    @Override
    public void close() {
        arenas.values().forEach(HeldArena::close);
        List<HeldArena> last;
        synchronized (left) {
            last = List.copyOf(left);
        }
        last.forEach(HeldArena::close);
    }

    /** @see #view */
    private final class View extends RefSpace {
        private final long since;

        View(long since) {
            this.since = since;
        }

        @Override
        public Window window(long ref) {
            return HeldScopes.this.window(ref, since);
        }

        @Override
        public boolean release(Object sharedObject) {
            return own.release(sharedObject);
        }

        HeldScopes holder() {
            return HeldScopes.this;
        }
    }
}
