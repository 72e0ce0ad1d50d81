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
import java.util.concurrent.atomic.AtomicLong;

/**
 * A client's part of its channel's arena where the clients share no memory: those scopes of its own that it has open for others, and what it holds of theirs. The server is the home of both. Thread-safe.
 *
 * <p>Each answer that names another's object begins a view: what its reader follows from there is asked for anew, once.
 */
final class HeldScopes implements MirroredScopes, ScopeEnd {
    /** How long the home is waited for. */
    private static final Duration BOUND = Duration.ofSeconds(10);
    /** An arena's number changes hands rarely: not twice while somebody follows one Ref. */
    private static final int ATTEMPTS = 3;
    /** So many nodes that have left last, what is held of them stays readable for who stands on it. */
    private static final int KEPT = 8;

    private final ShmClientConnection connection;
    private final ClientMirror mirror;
    private final Handshake.ServerHello serverHello;
    private final Arena requestArena;
    private final RefSpace own;
    private final RefSpace standing = new View(0);
    private final AtomicLong epochs = new AtomicLong(1);
    private final Map<Integer, HeldArena> arenas = new ConcurrentHashMap<>();
    /** Of nodes that have left, the last ones, the oldest first. Guarded by itself. */
    private final Deque<HeldArena> left = new ArrayDeque<>();
    /** Refs of the first runs of the scopes that others may read. */
    private final Set<Long> open = ConcurrentHashMap.newKeySet();

    HeldScopes(ShmClientConnection connection, ClientMirror mirror) {
        this.connection = connection;
        this.mirror = mirror;
        this.serverHello = connection.end.serverHello();
        this.requestArena = connection.arenas.requestArena();
        this.own = connection.arenas.refs();
    }

    // ---- own scopes

    /** A scope that others may read. */
    @Override
    public Scope open(long firstBytes) {
        Scope scope = requestArena.newScope(firstBytes, standing);
        try {
            share(scope.firstRun());
            scope.onEnd(this);
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
        open.remove(firstRun);
        try {
            return connection.ask(ControlOp.UNSHARE, firstRun, 0, endBound(), _ -> true);
        } catch (RpcException e) {
            // The home is busy, say: it hears of it later, and may hand out what is there until then. So its
            // memory goes with the connection.
            connection.control(ControlOp.UNSHARE, firstRun);
            return false;
        }
    }

    /** Nobody who closes a scope waits for longer than he would for a call. */
    private Duration endBound() {
        Duration call = connection.spec.defaultTimeout();
        return call.compareTo(BOUND) < 0 ? call : BOUND;
    }

    @Override
    public void begins(long firstRun) {
        share(firstRun);
    }

    /**
     * Carries the scope of an object in the request arena to the server, before it is passed.
     *
     * @param mayStay whether the server may fetch what it needs of a large scope. What others may read, it has
     * @return false if the scope stays here
     */
    @Override
    public boolean carryOver(long ref, boolean mayStay) {
        boolean stays = mayStay && (open.isEmpty() || !isOpen(ref));
        return mirror.carryScope(
                requestArena, serverHello.request().offset(), ref, stays ? MirrorBell.FETCHED_FROM : Long.MAX_VALUE);
    }

    /** Sees to it that the server has what others may read at that Ref: for whoever passes it over another connection. */
    @Override
    public void publish(long ref) {
        carryOver(ref, false);
        // Behind what was pushed: once this is answered it is there.
        share(requestArena.scopeOf(ref));
    }

    /** Whether an object lies in a scope that others may read. */
    @Override
    public boolean isOpen(long ref) {
        return Ref.arenaId(ref) == requestArena.id() && open.contains(requestArena.scopeOf(ref));
    }

    // ---- others'

    /** Where Refs are followed: what was ever asked for, and was not said to be stale, counts. */
    @Override
    public RefSpace standing() {
        return standing;
    }

    /** Where Refs are followed of an answer that has just come. */
    @Override
    public RefSpace view() {
        return new View(epochs.incrementAndGet());
    }

    @Override
    public boolean isSpaceOf(Object sharedObject) {
        return SharedObject.spaceOf(sharedObject) instanceof View view && view.holder() == this;
    }

    /** Whether it is memory in which others' pages are held. */
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

    /** The home says that something in that arena has ended, or that its writer has gone. Never waits for anybody. */
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

    /** The number names another arena from now on, or none. Whoever stands in what was held of it may read on, for a while. */
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
            // Its writer has left, and perhaps another come.
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

        HeldScopes holder() {
            return HeldScopes.this;
        }
    }
}
