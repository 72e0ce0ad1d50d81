package dev.rackcall.rpc.shm.server;

import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The server's side of a client with memory of its own: requests arrive in a mirror of that memory, answers are carried
 * over, and shared scopes may be opened for other clients. Thread-safe.
 */
public interface MirroredClient {
    /** An answer was published in that slot; the next push carries it. */
    void answered(int index);

    /** Carries everything published so far over to the client. */
    boolean push();

    /** As {@code MirroringBell.look}. */
    void look();

    /** As {@code MirroringBell.listen}. */
    void listen();

    /** Resolves the client's Refs. */
    RefSpace refs();

    /**
     * Resolves the Refs of arguments that have stayed with the client.
     *
     * @param deadline nanoTime until which the caller waits; 0 if it set none
     * @throws dev.rackcall.rpc.RpcException RESOURCE_EXHAUSTED if there is no memory for fetched pages
     */
    RefSpace fetched(long deadline);

    /** Whether {@code mapped} is memory into which the client's pages are fetched. */
    boolean isFetched(MemorySegment.Scope mapped);

    /** A call passes a shared object: from now on other clients may read what was pushed for it. */
    void hasPassed();

    /**
     * Whether other clients may read an object in that memory: its client has opened the scope, or this server has
     * adopted it.
     *
     * @throws dev.rackcall.shm.RefException if that client is gone
     */
    boolean isOpenForAll(MemorySegment.Scope mapped, long ref);

    /** Carries a scope of the reply arena to the client, before the answer that names it. */
    void carryReply(long ref);

    /**
     * Copies an argument into a scope that the server owns; empty if the client has not opened the argument's scope for
     * others.
     */
    Optional<Scope> adopt(Object argument, long ref, String method);

    /**
     * Serves a control request about shared scopes.
     *
     * @param result where the answer to {@code ControlOp.FETCH} is encoded
     * @throws dev.rackcall.shm.RefException if the Ref cannot be resolved
     */
    void serve(int op, long ref, long bytes, Supplier<PayloadWriter> result);

    /** The client is gone, or will be at once. */
    void end();

    /** Unmaps fetched pages; no call is in flight. */
    void release();

    /** The connection's memory was unmapped. */
    void released();
}
