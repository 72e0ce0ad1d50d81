package dev.rackcall.rpc.balance;

import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.pool.Pool;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Keeps the subchannels among which the calls of one channel choose. Thread-safe. */
public interface Balancer extends AutoCloseable {
    /** What the channel requires. */
    ClientSpec spec();

    /**
     * The subchannel that a call of that method uses directly, because there is no other and the call need not be repeated
     * or counted; null if that is not so.
     */
    Subchannel only(MethodDescriptor method);

    /** The subchannels that calls may use now, perhaps none. Reads one field. */
    Subchannel[] subchannels();

    /**
     * The subchannels that calls may use; waits for one if there is none.
     *
     * @param deadline nanoTime
     * @throws RpcException UNAVAILABLE if no server can be reached, CANCELLED if the channel is closed
     */
    Subchannel[] subchannels(long deadline);

    /** As {@link #subchannels(long)}, after ended subchannels were removed. */
    Subchannel[] await(long deadline);

    /** Whether calls may use a subchannel other than these, whose servers lack the called method. Does not wait. */
    default boolean hasOther(List<Subchannel> lacking) {
        return Arrays.stream(subchannels()).anyMatch(each -> each.isUsable() && !lacking.contains(each));
    }

    /**
     * As {@link #hasOther}, but looks for other servers and waits for their answers.
     *
     * @param deadline nanoTime
     * @return false if none of the servers that can be reached soon is another one
     * @throws RpcException DEADLINE_EXCEEDED; CANCELLED if the thread is interrupted or the channel is closed; UNAVAILABLE if
     *     the channel has other servers now
     */
    boolean awaitOther(List<Subchannel> lacking, long deadline);

    /** How {@link #awaitOther} ends at its deadline. */
    static RpcException searchedTooLong(ClientSpec spec) {
        return Status.Code.DEADLINE_EXCEEDED
                .with(
                        "channel %s: the connected servers lack the method, and others have not answered within the call's"
                                + " deadline; give the call more time",
                        spec.channel())
                .asException();
    }

    /** All subchannels whose memory can be used, including those that take no new calls. */
    Subchannel[] openSubchannels();

    /** The subchannel whose server can follow the Ref of a shared object. */
    default Optional<Subchannel> subchannelOf(Object sharedObject) {
        for (Subchannel subchannel : openSubchannels()) {
            if (subchannel.connection().maps(sharedObject)) {
                return Optional.of(subchannel);
            }
        }
        return Optional.empty();
    }

    /** As {@code ClientConnection.release}, for a result of any subchannel, including those that were left. */
    default boolean release(Object result) {
        for (Subchannel subchannel : openSubchannels()) {
            if (subchannel.connection().release(result)) {
                return true;
            }
        }
        return false;
    }

    /** Sets an action to run after subchannels were added or removed. It must not block. */
    void onChange(Runnable listener);

    /** Called when a subchannel was found to have ended. Does not wait. */
    void noticeEnd();

    /** Whether calls may begin on these subchannels. If not, the channel needs another connection. */
    boolean isUsable();

    boolean isClosed();

    /**
     * Prepares every subchannel, now and later, for the calls of a service's stubs. Subchannels to servers of versions
     * that these stubs cannot call are left, and closed once they have no calls and nothing is held there.
     *
     * @param deadline nanoTime until which it may wait for servers
     * @throws RpcException FAILED_PRECONDITION if all servers have such versions
     */
    void use(ServiceDefinition<?> definition, long deadline);

    /** The service of the first subchannel's server; other servers may have other versions. */
    ServedInterface service();

    /** The routes to the servers, if there is a choice. */
    List<Route> describe();

    /**
     * Makes later calls use another pool, or none.
     *
     * @throws RpcException FAILED_PRECONDITION if there is no choice of routes
     */
    void changePool(Optional<Pool> pool);

    /** Ends all subchannels; calls in flight end with CANCELLED. Idempotent. */
    @Override
    void close();
}
