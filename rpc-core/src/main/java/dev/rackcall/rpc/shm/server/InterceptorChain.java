package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.ServerInterceptor;
import dev.rackcall.rpc.Status;

/**
 * The interceptors around the handler of one call. If a handler leaves its answer to a stage or a stream, this object
 * ends the call, and not before its interceptors have returned. Made for each call with an interceptor that is
 * enabled; confined to the handler's thread.
 */
final class InterceptorChain {
    /** Ends the call, or its stream, after the interceptors. */
    interface Ending {
        /** @param failure of the handler or an interceptor; null if there was none */
        void end(Throwable failure);
    }

    private final ShmServerCall call;
    private final ServerInterceptor[] interceptors;
    private final RpcContext context;
    private final boolean isolated;
    private final Thread thread = Thread.currentThread();
    /** Null if the call ends with its result. */
    private Ending ending;

    private boolean left;

    InterceptorChain(ShmServerCall call) {
        this.call = call;
        this.interceptors = call.connection.service.interceptors();
        this.context = call.context();
        this.isolated = call.request.isIsolated();
    }

    /**
     * Runs interceptors and handler.
     *
     * @throws RpcException the failure of the call
     */
    void run() {
        proceed(0);
    }

    private void proceed(int index) {
        if (index == interceptors.length) {
            handle();
            return;
        }
        ServerInterceptor interceptor = interceptors[index];
        Next next = new Next(index + 1);
        try {
            if (interceptor.isEnabled()) {
                interceptor.around(context, next);
            } else {
                next.run();
            }
        } catch (RpcException e) {
            if (e.isFromCall() && e != next.failure) {
                throw Failure.ofInterceptorsCall(method(), interceptor.getClass(), e.status(), call.isOver())
                        .asException(e);
            }
            throw e;
        } catch (Throwable t) {
            if (t == next.failure || t instanceof InternalError) {
                throw t;
            }
            throw Failure.ofInterceptor(method(), interceptor.getClass(), t).asException(t);
        }
        next.rethrow();
        if (!next.ran) {
            throw Status.Code.INTERNAL
                    .with(
                            "%s: the server's interceptor %s returned without running the call; run 'next', or throw an"
                                    + " RpcException to refuse the call",
                            method(), interceptor.getClass().getName())
                    .asException();
        }
    }

    /** Turns the handler's failure into the one that the caller gets, so that interceptors see the same. */
    private void handle() {
        try {
            call.dispatch();
        } catch (InternalError e) {
            // If the handlers' walls caused it, they explain it.
            throw e;
        } catch (Throwable t) {
            // Once a stream is to end this call, the slot may serve its next call.
            Failure failure =
                    Failure.of(t, method(), ending == null && call.response.isEncoding(), isolated, call.isOver());
            throw new RpcException(failure.status(), failure.trailers(), t);
        }
    }

    private String method() {
        return context.method().fullName();
    }

    /** Leaves the end of the call to {@link #end}. */
    void leave(Ending later) {
        ending = later;
    }

    /** Whether the call waits for {@link #end}. */
    boolean hasEnding() {
        return ending != null;
    }

    /** Called once the interceptors have returned. */
    void end(Throwable failure) {
        Ending last = ending;
        ending = null;
        last.end(failure);
    }

    /** The thread continues without using the connection's memory. */
    void leaveConnection() {
        left = true;
    }

    boolean hasLeftConnection() {
        return left;
    }

    /** What an interceptor runs to go on. */
    private final class Next implements Runnable {
        private final int index;
        private boolean ran;
        private Throwable failure;

        Next(int index) {
            this.index = index;
        }

        @Override
        public void run() {
            if (ran || Thread.currentThread() != thread) {
                throw new IllegalStateException(method() + ": an interceptor runs 'next' "
                        + (ran ? "twice; a call has one answer" : "on another thread; run it on the one it was given"));
            }
            ran = true;
            try {
                proceed(index);
            } catch (RuntimeException | Error e) {
                failure = e;
                throw e;
            }
        }

        /** An interceptor cannot invent a result for a failed handler. */
        void rethrow() {
            switch (failure) {
                case null -> {}
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                default -> throw new AssertionError(failure);
            }
        }
    }
}
