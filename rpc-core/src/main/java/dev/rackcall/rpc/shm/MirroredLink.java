package dev.rackcall.rpc.shm;

import dev.rackcall.shm.RefSpace;
import java.lang.foreign.MemorySegment;

/** What a connection has at the server if its client has memory of its own. */
final class MirroredLink {
    private final ServerMirror mirror;
    private final NodeScopes node;
    private final RefSpace refs;
    private final Handshake.ArenaPlace request;

    /** Null until the first arguments come that are to be fetched. */
    private volatile FetchedArena fetched;

    /** @param refs where the client's Refs are followed */
    MirroredLink(ServerMirror mirror, NodeScopes node, RefSpace refs, Handshake.ArenaPlace request) {
        this.mirror = mirror;
        this.node = node;
        this.refs = refs;
        this.request = request;
    }

    ServerMirror mirror() {
        return mirror;
    }

    NodeScopes node() {
        return node;
    }

    RefSpace refs() {
        return refs;
    }

    /** As {@link ServerLink#fetched}. */
    RefSpace fetched(long deadline) {
        FetchedArena present = fetched;
        return (present != null ? present : makeFetched()).space(refs, deadline);
    }

    private synchronized FetchedArena makeFetched() {
        if (fetched == null) {
            fetched = FetchedArena.open(mirror.carrier, mirror.memory(), request);
        }
        return fetched;
    }

    /** Whether it is memory into which pages of the client's are fetched. */
    boolean isFetched(MemorySegment.Scope mapped) {
        FetchedArena present = fetched;
        return present != null && present.isIn(mapped);
    }

    /** Unmaps what was fetched; no call is under way. */
    void release() {
        if (fetched != null) {
            fetched.close();
        }
    }

    /** The connection's memory was unmapped. */
    void released() {
        node.channel().forget(node);
    }
}
