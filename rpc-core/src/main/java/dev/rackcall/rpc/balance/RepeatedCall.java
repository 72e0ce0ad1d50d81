package dev.rackcall.rpc.balance;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientCall.ResultReader;
import dev.rackcall.rpc.spi.EndObservers;
import dev.rackcall.rpc.spi.FutureThreads;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/** The future of an asynchronous call that is sent again if its subchannel fails and the call may be repeated. */
final class RepeatedCall<T> extends CompletableFuture<T> implements ClientCall.Pending {
    /** Sends the call, once for each attempt. */
    interface Attempts {
        /**
         * Sends the call once, and reports the outcome to {@code observer}; the arguments are kept for the next
         * attempt. Does not wait for a server.
         *
         * @return null if the call has to wait for one
         */
        <R> CompletableFuture<R> attemptAsync(ResultReader<R> reader, CallObserver observer);

        /**
         * As {@link #attemptAsync}, but waits for a server, until an interrupt at most.
         *
         * @param isOver asked before the call is sent: whether it must not be sent any more
         */
        <R> CompletableFuture<R> attemptWhenReady(
                ResultReader<R> reader, CallObserver observer, BooleanSupplier isOver);

        /**
         * Runs {@code sending} on a thread that may wait for a server.
         *
         * @throws RpcException RESOURCE_EXHAUSTED if too many calls wait
         */
        void whereItMayWait(Runnable sending);

        /**
         * Whether another attempt is allowed after this failure.
         *
         * @param wasNeverBegun whether the server had not begun the call
         */
        boolean maySendAgain(RpcException e, boolean wasNeverBegun);

        /** Called when the call is over. */
        void finish();
    }

    private final Attempts call;
    private final ResultReader<T> reader;
    private final CallObserver observer;
    /** The last attempt that was sent; null before. */
    private volatile CompletableFuture<T> attempt;
    /** The thread that waits for a server; null if none does. Guarded by this object's lock. */
    private Thread waiting;
    /** Of the last attempt that has ended. */
    private volatile Metadata trailers = Metadata.EMPTY;

    private RepeatedCall(Attempts call, ResultReader<T> reader, CallObserver observer) {
        this.call = call;
        this.reader = reader;
        this.observer = observer;
    }

    /** Sends the call, which is recycled when the future completes. Does not wait for a server. */
    static <T> RepeatedCall<T> begin(Attempts call, ResultReader<T> reader, CallObserver observer) {
        RepeatedCall<T> repeated = new RepeatedCall<>(call, reader, observer);
        repeated.send();
        return repeated;
    }

    private void send() {
        CompletableFuture<T> sent;
        try {
            sent = call.attemptAsync(reader, new AttemptObserver());
            if (sent == null) {
                call.whereItMayWait(this::sendWhenReady);
                return;
            }
        } catch (RuntimeException | Error e) {
            // Also errors: callers that wait for this future must get them.
            end(null, e);
            return;
        }
        follow(sent);
        var _ = sent.whenComplete(this::answered);
    }

    private void follow(CompletableFuture<T> sent) {
        attempt = sent;
        // Pairs with cancelAttempt: the caller completes this future first, and reads the field then.
        if (isDone()) {
            sent.cancel(true);
        }
    }

    /** Called by the thread that waits. Stages of the future run on another one, so that it is free for other calls. */
    private void sendWhenReady() {
        CompletableFuture<T> sent;
        try {
            sent = awaitServer();
        } catch (RuntimeException | Error e) {
            FutureThreads.run(() -> end(null, e));
            return;
        }
        follow(sent);
        var _ = sent.whenCompleteAsync(this::answered, FutureThreads::run);
    }

    private CompletableFuture<T> awaitServer() {
        synchronized (this) {
            if (isDone()) {
                throw new CancellationException();
            }
            waiting = Thread.currentThread();
        }
        try {
            return call.attemptWhenReady(reader, new AttemptObserver(), this::isDone);
        } finally {
            synchronized (this) {
                waiting = null;
            }
        }
    }

    /** Passes on what begins; the end of an attempt may not be the call's. */
    private final class AttemptObserver implements CallObserver {
        @Override
        public void onBegin(Route.Kind transport) {
            observer.onBegin(transport);
        }

        @Override
        public void onEnd(Status status, Metadata received) {
            trailers = received;
        }
    }

    private void answered(T value, Throwable failure) {
        if (failure instanceof RpcException e && !isDone() && call.maySendAgain(e, wasNeverBegun())) {
            send();
        } else {
            end(value, failure);
        }
    }

    @Override
    public boolean wasNeverBegun() {
        return attempt instanceof ClientCall.Pending pending && pending.wasNeverBegun();
    }

    private void end(T value, Throwable failure) {
        call.finish();
        EndObservers.tell(
                observer,
                switch (failure) {
                    case null -> Status.OK;
                    case RpcException e -> e.status();
                    case CancellationException _ -> Status.Code.CANCELLED.with("cancelled by its caller");
                    default -> Status.Code.INTERNAL.with("the call failed: %s", failure);
                },
                trailers);
        if (failure != null) {
            if (failure instanceof RpcException e) {
                e.fromCall();
            }
            super.completeExceptionally(failure);
        } else if (!super.complete(value)) {
            // The caller completed the future first.
            drop(value);
        }
    }

    @Override
    public void drop(Object value) {
        if (attempt instanceof ClientCall.Pending pending) {
            pending.drop(value);
        }
    }

    // ---- the caller completes the future itself, and needs no attempt

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean first = super.cancel(mayInterruptIfRunning);
        cancelAttempt();
        return first;
    }

    @Override
    public boolean complete(T value) {
        boolean first = super.complete(value);
        cancelAttempt();
        return first;
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        boolean first = super.completeExceptionally(failure);
        cancelAttempt();
        return first;
    }

    private void cancelAttempt() {
        synchronized (this) {
            if (waiting != null) {
                waiting.interrupt();
            }
        }
        CompletableFuture<T> sent = attempt;
        if (sent != null) {
            sent.cancel(true);
        }
    }

    // ---- a thread waits: it polls for the answer to the attempt, which is faster than to be woken

    @Override
    public T join() {
        CompletableFuture<T> sent = attempt;
        if (sent != null && !isDone()) {
            try {
                sent.join();
            } catch (CompletionException | CancellationException _) {
                // This future ends with it, or another attempt is under way.
            }
        }
        return super.join();
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        CompletableFuture<T> sent = attempt;
        if (sent != null && !isDone()) {
            try {
                sent.get();
            } catch (ExecutionException | CancellationException _) {
                // As in join.
            }
        }
        return super.get();
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        long end = System.nanoTime() + unit.toNanos(timeout);
        CompletableFuture<T> sent = attempt;
        if (sent != null && !isDone()) {
            try {
                sent.get(timeout, unit);
            } catch (ExecutionException | CancellationException _) {
                // As in join.
            }
        }
        return super.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
    }

    /** Dependent stages are ordinary futures. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
