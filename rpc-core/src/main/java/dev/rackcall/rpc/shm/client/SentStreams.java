package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientSpec;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The streams that the calls of a connection send. Such a call and its stream need a slot each, so only as many may send
 * at the same time as leave a slot for a call of another kind. Thread-safe.
 */
final class SentStreams {
    private final ClientSpec spec;
    private final int most;
    /** One permit for each call that may send a stream. */
    private final Semaphore permits;

    private final Set<OutgoingStream<?>> streams = ConcurrentHashMap.newKeySet();
    private volatile boolean stopped;

    /** @param slots of the connection */
    SentStreams(ClientSpec spec, int slots) {
        this.spec = spec;
        this.most = Math.max(1, (Math.min(spec.slots(), slots) - 1) / 2);
        this.permits = new Semaphore(most);
    }

    /**
     * Waits until the calling thread's call may send; {@link #leave} must follow.
     *
     * @param deadline on the channel's clock, or 0 for the channel's timeout
     * @param beforeWaiting run if the thread has to wait
     * @throws dev.rackcall.rpc.RpcException RESOURCE_EXHAUSTED at the deadline, CANCELLED if the thread is interrupted
     */
    void enter(MethodDescriptor method, long deadline, Runnable beforeWaiting) {
        if (permits.tryAcquire()) {
            return;
        }
        beforeWaiting.run();
        long end = deadline != 0
                ? deadline
                : spec.clock().nanoTime() + spec.defaultTimeout().toNanos();
        try {
            if (!isAllowedBefore(end)) {
                throw Status.Code.RESOURCE_EXHAUSTED
                        .with(
                                "%s: %d calls of this connection sent streams until the deadline, each of which may take"
                                        + " two slots; end one first, or open the channel with more slots than %d",
                                method, most, spec.slots())
                        .asException();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw ClientFailure.interruptedUnsent(spec.channel()).asException(e);
        }
    }

    private boolean isAllowedBefore(long end) throws InterruptedException {
        long left = spec.clock().left(end);
        while (left > 0) {
            if (permits.tryAcquire(spec.clock().longestSleep(left), TimeUnit.NANOSECONDS)) {
                return true;
            }
            left = spec.clock().left(end);
        }
        return permits.tryAcquire();
    }

    /** The call has ended without a stream, or its stream has ended: another call may send. */
    void leave() {
        permits.release();
    }

    void add(OutgoingStream<?> stream) {
        streams.add(stream);
        // Pairs with stopAll: either this thread sees the mark, or stopAll sees the stream.
        if (stopped) {
            stream.stop();
        }
    }

    void remove(OutgoingStream<?> stream) {
        streams.remove(stream);
        leave();
    }

    /** The connection has ended. Calls that wait, now or later, go on and find it out when they claim a slot. */
    void stopAll() {
        stopped = true;
        permits.release(Integer.MAX_VALUE / 2);
        streams.forEach(OutgoingStream::stop);
    }
}
