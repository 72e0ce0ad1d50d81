package dev.rackcall.rpc.shm.server;

import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What a server has for a client with memory of its own: requests arrive in a mirror of that memory, answers are carried over, and shared scopes are open for
 * other nodes. Thread-safe.
 */
public interface MirroredClient {
    /** An answer was published in that slot, and is to be carried with the next push. */
    void answered(int index);

    /** Carries what was published to the client. */
    void push();

    /** As {@code MirroringBell.look}. */
    void look();

    /** As {@code MirroringBell.listen}. */
    void listen();

    /** As {@code MirroringBell.pausesPerLook}. */
    int pausesPerLook();

    /** Where the client's Refs are followed. */
    RefSpace refs();

    /**
     * Where Refs are followed of arguments that have stayed with the client.
     *
     * @param deadline until when the call's caller waits; 0 if it has not said so
     * @throws dev.rackcall.rpc.RpcException RESOURCE_EXHAUSTED if there is no memory for what is fetched
     */
    RefSpace fetched(long deadline);

    /** Whether it is memory into which pages of the client's are fetched. */
    boolean isFetched(MemorySegment.Scope mapped);

    /** A call passes a shared object: what the client has pushed for it may be read by others from now on. */
    void hasPassed();

    /**
     * Whether the caller may ask for an object in that memory: another node has opened its scope for others, or this server has adopted it.
     *
     * @throws dev.rackcall.shm.RefException if it was so, and its node is gone
     */
    boolean isOpenForAll(MemorySegment.Scope mapped, long ref);

    /** Carries a scope of the reply arena to the client, before the answer that names it. */
    void carryReply(long ref);

    /** Makes a copy of an argument the server's own; empty if the client has not opened its scope for others. */
    Optional<Scope> adopt(Object argument, long ref, String method);

    /**
     * Serves a control request about shared scopes.
     *
     * @param result where the answer to {@code ControlOp.FETCH} is encoded
     * @throws dev.rackcall.shm.RefException if the Ref leads nowhere
     */
    void serve(int op, long ref, long bytes, Supplier<PayloadWriter> result);

    /** The client is gone, or will be at once. */
    void end();

    /** Unmaps what was fetched; no call is under way. */
    void release();

    /** The connection's memory was unmapped. */
    void released();
}
