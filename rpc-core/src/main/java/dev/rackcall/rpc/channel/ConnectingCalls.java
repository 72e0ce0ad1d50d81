package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.FutureThreads;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/**
 * The asynchronous and one-way calls of a channel that began while it had no server, first come, first served. One
 * thread connects and sends them; it ends when the queue is empty. Their callers do not wait. Thread-safe.
 */
final class ConnectingCalls {
    /** A call that waits for a server. */
    interface Entry {
        /** Bytes of encoded arguments. */
        long bytes();

        /** nanoTime. */
        long deadline();

        /** Whether it waits until its deadline if no server can be reached. */
        boolean waitsForReady();

        /** Whether its caller does not learn its end. */
        boolean isOneWay();

        /** Names the method. */
        @Override
        String toString();

        /**
         * Connects, until the deadline at most.
         *
         * @throws RpcException if no server can be reached
         */
        void connect();

        /** Sends the call over a connection that {@link #connect} made. Throws nothing. */
        void send();

        /** Ends the call, which was not sent. Runs its observers, but no stages of its future. */
        void end(Status status);
    }

    /** Maximum number of calls that wait. Their arguments take at most as many bytes as the channel's arena quota. */
    static final int MOST_CALLS = 1_024;

    private static final long NONE = Long.MAX_VALUE;
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final ClientSpec spec;
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    /** Bytes of arguments that wait. Guarded by this, as {@link #waiting}. */
    private long bytes;
    /** Whether the thread runs. Guarded by this. */
    private boolean connecting;
    /**
     * Whether no calls wait or are being sent; later ones go behind those. Written under the lock, read without: a thread
     * sees its own calls, whose order counts.
     */
    private volatile boolean empty = true;

    /** Calls added so far. Guarded by this. */
    private long added;
    /** The number of the call that the thread sends, which has left {@link #waiting}. Guarded by this. */
    private long sending = NONE;
    /** Attempts to reach a server that failed. Guarded by this, as the next field is. */
    private long failures;

    private Status lastFailure = Status.OK;

    /**
     * @param number how many were added before
     * @param timer ends the call at its deadline unless completed before
     */
    private record Waiting(Entry call, long number, CompletableFuture<Void> timer) {}

    ConnectingCalls(ClientSpec spec) {
        this.spec = spec;
    }

    boolean isEmpty() {
        return empty;
    }

    /**
     * Adds a call after those that wait.
     *
     * @throws RpcException RESOURCE_EXHAUSTED if too many wait, DEADLINE_EXCEEDED; the caller reports it to the call's
     *     observer
     */
    void add(Entry call) {
        long nanos = call.deadline() - System.nanoTime();
        if (nanos <= 0) {
            throw late(call).asException();
        }
        CompletableFuture<Void> timer = new CompletableFuture<>();
        synchronized (this) {
            requireRoom(call);
            if (!connecting) {
                // Not a virtual thread: connecting makes system calls that wait.
                Thread.ofPlatform()
                        .daemon()
                        .name("rackcall-connect-" + spec.channel())
                        .start(this::sendAll);
                connecting = true;
            }
            waiting.add(new Waiting(call, added++, timer));
            bytes += call.bytes();
            empty = false;
        }
        var _ = timer.orTimeout(nanos, TimeUnit.NANOSECONDS).exceptionally(_ -> {
            // An observer that blocked the JDK's timer thread would stop all timeouts of the JVM.
            FutureThreads.run(() -> expire(call));
            return null;
        });
    }

    private void requireRoom(Entry call) {
        if (waiting.size() >= MOST_CALLS || (!waiting.isEmpty() && bytes + call.bytes() > spec.arenaQuota())) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "%s: channel %s has no server now, and its queue is full: %d asynchronous calls with %d bytes of"
                                    + " arguments (at most %d calls and %d bytes); wait for some of them to complete before you"
                                    + " make more calls",
                            call, spec.channel(), waiting.size(), bytes, MOST_CALLS, spec.arenaQuota())
                    .asException();
        }
    }

    /** Removes a call; returns whether it still waited. */
    boolean remove(Entry call) {
        Waiting found = null;
        synchronized (this) {
            for (Waiting each : waiting) {
                if (each.call == call) {
                    found = each;
                    break;
                }
            }
            if (found == null) {
                return false;
            }
            waiting.remove(found);
            bytes -= call.bytes();
            notifyAll();
        }
        found.timer.complete(null);
        return true;
    }

    /**
     * Waits until the calls that were added before have left: a call that is not queued must not overtake them.
     *
     * @param deadline nanoTime
     * @param waits whether the call waits although no server can be reached
     * @throws RpcException why no server can be reached, DEADLINE_EXCEEDED, or CANCELLED if the thread is interrupted
     */
    synchronized void awaitEarlier(MethodDescriptor method, long deadline, boolean waits) {
        long before = added;
        long seen = failures;
        while (isUnsentBefore(before)) {
            if (!waits && failures != seen) {
                throw lastFailure.asException();
            }
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                throw late(method).asException();
            }
            try {
                // Rounded up, because wait(0) has no time limit.
                wait(TimeUnit.NANOSECONDS.toMillis(left) + 1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw Status.Code.CANCELLED
                        .with("%s: interrupted while channel %s had no server", method, spec.channel())
                        .asException(e);
            }
        }
    }

    private boolean isUnsentBefore(long number) {
        Waiting first = waiting.peek();
        return sending < number || (first != null && first.number < number);
    }

    private void expire(Entry call) {
        if (remove(call)) {
            call.end(late(call));
        }
    }

    private Status late(Object call) {
        return Status.Code.DEADLINE_EXCEEDED.with(
                "%s: its deadline passed while channel %s had no server; start one, or give the call more time",
                call, spec.channel());
    }

    /** How many one-way calls wait. */
    synchronized long oneWay() {
        return waiting.stream().filter(each -> each.call.isOneWay()).count();
    }

    /** Ends all calls that wait. */
    void endAll(Status status) {
        end(_ -> true, status);
    }

    /** No server can be reached now: ends the calls that do not wait. */
    private void unreachable(Status status) {
        end(each -> !each.waitsForReady(), status);
        synchronized (this) {
            failures++;
            lastFailure = status;
            notifyAll();
        }
    }

    private void end(Predicate<Entry> which, Status status) {
        List<Entry> ended;
        synchronized (this) {
            ended = waiting.stream().map(Waiting::call).filter(which).toList();
        }
        for (Entry each : ended) {
            end(each, status);
        }
    }

    // ---- the thread

    private void sendAll() {
        boolean over = false;
        try {
            sendEach();
            over = true;
        } finally {
            if (!over) {
                died();
            }
        }
    }

    /** The next call that is added starts another thread; those that wait would have to wait for that. */
    private void died() {
        synchronized (this) {
            connecting = false;
            sending = NONE;
            notifyAll();
        }
        end(
                _ -> true,
                Status.Code.INTERNAL.with(
                        "channel %s: the thread that connects has failed, see the log; call again", spec.channel()));
    }

    private void sendEach() {
        for (Entry first = first(); first != null; first = first()) {
            try {
                first.connect();
            } catch (RpcException e) {
                // A server that did not answer in time is one that cannot be reached now.
                boolean hasTime = first.deadline() - System.nanoTime() > 0;
                if (e.code() == Status.Code.UNAVAILABLE || (e.code() == Status.Code.DEADLINE_EXCEEDED && hasTime)) {
                    unreachable(e.status());
                    LockSupport.parkNanos(RETRY_NANOS);
                } else {
                    // Later calls may have more time, or be to another service.
                    end(first, e.status());
                }
                continue;
            } catch (RuntimeException | Error e) {
                end(first, Status.Code.INTERNAL.with("%s: cannot connect: %s", first, e));
                continue;
            }
            if (isTaken(first)) {
                first.send();
                sent();
            }
        }
    }

    /** Takes the call, unless it was removed. */
    private synchronized boolean isTaken(Entry call) {
        Waiting first = waiting.peek();
        if (first == null || first.call != call) {
            return false;
        }
        sending = first.number;
        return remove(call);
    }

    private synchronized void sent() {
        sending = NONE;
        notifyAll();
    }

    private void end(Entry call, Status status) {
        if (remove(call)) {
            call.end(status);
        }
    }

    /** The first call that waits; null ends the thread. */
    private synchronized Entry first() {
        Waiting first = waiting.peek();
        if (first == null) {
            connecting = false;
            empty = true;
            notifyAll();
            return null;
        }
        return first.call;
    }
}
