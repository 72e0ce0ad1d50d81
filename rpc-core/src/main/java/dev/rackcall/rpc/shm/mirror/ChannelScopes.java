package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeEnd;
import dev.rackcall.shm.ScopeRuns;
import dev.rackcall.shm.types.DeepCopy;
import dev.rackcall.shm.types.SharedDataException;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongConsumer;

/**
 * The home of a channel's shared scopes, at the server, if its clients share no memory. Each client is a node and the
 * only writer of its own part ({@link NodeScopes}); the server's part holds adopted scopes. Nodes fetch from here what
 * others have written. Thread-safe.
 */
final class ChannelScopes {
    private static final long ADOPTED_BYTES = 4000;

    private final Arena home;
    private final Map<Integer, NodeScopes> nodes = new ConcurrentHashMap<>();
    /** Nodes that have left while their memory is still mapped: its objects may not be read any more. */
    private final Set<NodeScopes> gone = ConcurrentHashMap.newKeySet();
    /** Refs of the first runs of the server's complete, open scopes. */
    private final Set<Long> adopted = ConcurrentHashMap.newKeySet();
    /** Nodes that have fetched from the server's part since they were last notified of a closed scope. */
    private final Set<NodeScopes> readers = ConcurrentHashMap.newKeySet();

    private final ScopeEnd adoptedEnds = new ScopeEnd() {
        @Override
        public boolean ends(long firstRun) {
            // Remove first: a notified reader fetches again at once, and it is notified only once.
            adopted.remove(firstRun);
            tellReaders();
            return true;
        }

        @Override
        public void begins(long firstRun) {
            throw new IllegalStateException("an adopted scope can only be closed");
        }
    };

    /** @param home the server's part */
    ChannelScopes(Arena home) {
        this.home = home;
    }

    /** Adds a node. */
    NodeScopes join(Arena requestArena, LongConsumer teller) {
        NodeScopes node = new NodeScopes(this, requestArena, teller);
        nodes.put(requestArena.id(), node);
        return node;
    }

    /** Removes a node for all readers. Its memory stays mapped until {@link #forget}. */
    void leave(NodeScopes node) {
        // Add first: a reader that no longer finds the node in `nodes` finds it in `gone`.
        gone.add(node);
        nodes.remove(node.arenaId(), node);
        readers.remove(node);
        nodes.values().forEach(other -> other.forget(node));
    }

    /** Drops a node that has left, once its memory is unmapped. */
    void forget(NodeScopes node) {
        gone.remove(node);
    }

    /** The space in which a node's Refs are followed; {@code own} covers its own arenas and the server's part. */
    RefSpace space(RefSpace own, NodeScopes self) {
        return new RefSpace() {
            @Override
            public Window window(long ref) {
                int id = Ref.arenaId(ref);
                NodeScopes node = id == self.arenaId() || id == home.id() ? null : nodes.get(id);
                return node == null ? own.window(ref) : node.window(ref);
            }
        };
    }

    /**
     * Whether an object in that memory belongs to another node or to the server's part; throws RefException if that
     * node has left.
     */
    boolean holds(MemorySegment.Scope mapped, long ref) {
        if (mapped.equals(home.memory().scope())) {
            return true;
        }
        NodeScopes node = nodes.get(Ref.arenaId(ref));
        if (node == null || !node.isIn(mapped)) {
            requireNotGone(mapped, ref);
            return false;
        }
        node.requireOpen(ref);
        return true;
    }

    /** A handler may keep a node's memory mapped after the node has left; its objects may not be read any more. */
    private void requireNotGone(MemorySegment.Scope mapped, long ref) {
        // Check the memory last: a node leaves `gone` only after its memory is unmapped.
        boolean left = gone.stream().anyMatch(node -> node.isIn(mapped));
        if (left || !mapped.isAlive()) {
            throw new RefException(Ref.describe(ref)
                    + " cannot be followed: the connection of the node that had it has ended; is its node gone?");
        }
    }

    // ---- fetching

    /** The size of the arena that a Ref names; throws RefException if there is none. */
    long arenaBytes(long ref) {
        return Ref.arenaId(ref) == home.id() ? home.quota() : nodeOf(ref).arenaBytes();
    }

    /**
     * The bytes at a Ref.
     *
     * @param most maximum number of bytes; the result is shorter if the run ends first
     * @throws RefException if the Ref leads into no open scope
     */
    byte[] copy(long ref, int most, NodeScopes reader) {
        if (Ref.arenaId(ref) == reader.arenaId()) {
            throw new RefException(Ref.describe(ref) + " leads into the node's own arena, of which it has all");
        }
        return Ref.arenaId(ref) == home.id()
                ? copyOfHome(ref, most, reader)
                : nodeOf(ref).copy(ref, most, reader);
    }

    private NodeScopes nodeOf(long ref) {
        NodeScopes node = nodes.get(Ref.arenaId(ref));
        if (node == null) {
            throw new RefException(Ref.describe(ref)
                    + " cannot be followed: it names no arena that a node of this channel has now; is its node gone?");
        }
        return node;
    }

    private byte[] copyOfHome(long ref, int most, NodeScopes reader) {
        readers.add(reader);
        long scope = requireAdopted(ref);
        ScopeRuns runs = new ScopeRuns();
        runs.read(home, scope);
        for (int i = 0; i < runs.count(); i++) {
            long into = Ref.offset(ref) - Ref.offset(runs.ref(i));
            if (into >= 0 && into < runs.bytes(i)) {
                byte[] bytes = new byte[(int) Math.min(most, runs.bytes(i) - into)];
                MemorySegment.copy(home.memory(), ValueLayout.JAVA_BYTE, Ref.offset(ref), bytes, 0, bytes.length);
                // If the scope was closed in the meantime, its memory may be reused. The fence keeps the reads before
                // this check.
                VarHandle.loadLoadFence();
                requireAdopted(ref);
                return bytes;
            }
        }
        throw new RefException(Ref.describe(ref) + " cannot be followed: nothing was allocated there");
    }

    private long requireAdopted(long ref) {
        long scope = home.scopeOf(ref);
        if (!adopted.contains(scope)) {
            throw new RefException(Ref.describe(ref)
                    + " cannot be followed: it leads into no scope that the server has adopted; was it closed?");
        }
        return scope;
    }

    private void tellReaders() {
        for (NodeScopes reader : List.copyOf(readers)) {
            if (readers.remove(reader)) {
                reader.tellStale(home.id());
            }
        }
    }

    // ---- adopting

    /**
     * Copies an argument, with everything reachable from it, into the server's part, and makes the flyweight refer to
     * the copy.
     *
     * @return the copy's scope, which can only be closed
     * @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if anything reachable from it is missing
     */
    Scope adopt(Object argument, String method) {
        Scope own = home.newScope(ADOPTED_BYTES);
        try {
            move(argument, own);
            own.onEnd(adoptedEnds);
            adopted.add(own.firstRun());
            own.detach();
            return own;
        } catch (RefException | SharedDataException e) {
            own.close();
            throw Status.Code.FAILED_PRECONDITION
                    .with("%s: the argument cannot be taken over: %s", method, e.getMessage())
                    .asException(e);
        } catch (RuntimeException | Error e) {
            own.close();
            throw e;
        }
    }

    private static <T> void move(T argument, Scope target) {
        @SuppressWarnings("unchecked") // a flyweight's type object makes flyweights of the same class
        SharedType<T> type = (SharedType<T>) SharedObject.typeOf(argument);
        type.move(argument, target.space(), SharedObject.refOf(DeepCopy.DEFAULT.copy(argument, target)));
    }
}
