package dev.rackcall.rpc.balance;

import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientSpec;

/**
 * The asynchronous and one-way calls of a channel that no connected server can take: all servers have just ended, or they
 * lack the method. Each call waits for another server on a virtual thread, in no order. Its caller does not wait, nor does
 * the thread that completes answers. Thread-safe.
 */
final class WaitingCalls {
    /** Maximum number of calls that wait. Their arguments take at most as many bytes as the channel's arena quota. */
    static final int MOST_CALLS = 1_024;

    private final ClientSpec spec;
    // Guarded by this object's lock.
    private int calls;
    private long bytes;

    WaitingCalls(ClientSpec spec) {
        this.spec = spec;
    }

    /**
     * Runs {@code sending}, which waits for a server and sends a call, on a virtual thread.
     *
     * @param argumentBytes bytes of the call's encoded arguments
     * @param mayRefuse whether the call is refused if too many wait
     * @throws RpcException RESOURCE_EXHAUSTED if too many calls wait
     */
    void start(MethodDescriptor method, long argumentBytes, boolean mayRefuse, Runnable sending) {
        enter(method, argumentBytes, mayRefuse);
        boolean started = false;
        try {
            Thread.ofVirtual().name("rackcall-waiting-call").start(() -> {
                try {
                    sending.run();
                } finally {
                    leave(argumentBytes);
                }
            });
            started = true;
        } finally {
            if (!started) {
                leave(argumentBytes);
            }
        }
    }

    private synchronized void enter(MethodDescriptor method, long argumentBytes, boolean mayRefuse) {
        boolean isFull = calls >= MOST_CALLS || (calls > 0 && bytes + argumentBytes > spec.arenaQuota());
        if (mayRefuse && isFull) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "%s: channel %s has no server for this call now, and %d asynchronous calls with %d bytes of arguments wait"
                                    + " for one (at most %d calls and %d bytes); wait for some of them to complete before you make"
                                    + " more calls",
                            method, spec.channel(), calls, bytes, MOST_CALLS, spec.arenaQuota())
                    .asException();
        }
        calls++;
        bytes += argumentBytes;
    }

    private synchronized void leave(long argumentBytes) {
        calls--;
        bytes -= argumentBytes;
    }
}
