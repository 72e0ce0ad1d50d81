package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.ByteObserver;
import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.Deadline;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientCalls;
import dev.rackcall.rpc.spi.EndObservers;
import dev.rackcall.rpc.spi.LimitedLog;
import java.util.List;
import java.util.function.Function;

/** One call inside its channel's interceptors. Confined to the caller's thread. */
final class InterceptedCall<T> implements ClientInterceptor.Call, ClientCalls {
    private static final LimitedLog LOG = LimitedLog.of(InterceptedCall.class);

    private final StubCalls calls;
    private final MethodDescriptor method;
    private final Function<ClientCalls, T> call;
    private final Thread thread = Thread.currentThread();
    private final EndObservers observers = new EndObservers();
    private Metadata headers;
    private long deadline;
    /** Null if the call's bytes are not counted. */
    private ByteObserver bytes;
    /** Whether the transport reports the call's end. */
    private boolean begun;

    private T result;
    /** Null unless this thread reads the result. */
    private NotedCall noted;

    InterceptedCall(StubCalls calls, MethodDescriptor method, Function<ClientCalls, T> call) {
        this.calls = calls;
        this.method = method;
        this.call = call;
        this.headers = calls.headers();
        this.deadline = calls.deadline();
        observers.add(calls.observer());
        CallObserver measured = calls.measured(method);
        observers.add(measured);
        if (measured instanceof ByteObserver meter) {
            onBytes(meter);
        }
    }

    T run() {
        try {
            proceed(0);
            return result;
        } catch (RuntimeException | Error e) {
            if (begun) {
                calls.discard(result, noted == null ? List.of() : noted.shared());
            } else {
                observers.onEnd(
                        e instanceof RpcException failed
                                ? failed.status()
                                : Status.Code.INTERNAL.with("%s: the call could not begin: %s", method, e),
                        Metadata.EMPTY);
            }
            if (e instanceof RpcException failed) {
                failed.fromCall();
            }
            throw e;
        }
    }

    private void proceed(int index) {
        ClientInterceptor[] interceptors = calls.interceptors();
        if (index == interceptors.length) {
            result = call.apply(this);
            return;
        }
        ClientInterceptor interceptor = interceptors[index];
        Next next = new Next(index + 1);
        try {
            if (interceptor.isEnabled()) {
                interceptor.around(this, next);
            } else {
                next.run();
            }
        } catch (RpcException e) {
            throw e;
        } catch (Throwable t) {
            if (t == next.failure) {
                throw t;
            }
            throw threw(interceptor.getClass(), t);
        }
        next.rethrow();
        if (!next.ran) {
            throw Status.Code.INTERNAL
                    .with(
                            "%s: the client's interceptor %s returned without running the call; run 'next', or throw an"
                                    + " RpcException to refuse the call",
                            method, interceptor.getClass().getName())
                    .asException();
        }
    }

    private RpcException threw(Class<?> interceptor, Throwable thrown) {
        LOG.warn("{}: the interceptor {} threw", method, interceptor.getName(), thrown);
        return Status.Code.INTERNAL
                .with("%s: the client's interceptor %s threw %s", method, interceptor.getName(), thrown)
                .asException(thrown);
    }

    @Override
    public ClientCall begin(MethodDescriptor callee) {
        ClientCall started = calls.begin(callee, deadline, headers, observers);
        begun = true;
        if (bytes != null) {
            started = new CountedCall(started, bytes);
        }
        if (callee.kind() != MethodDescriptor.Kind.UNARY && callee.kind() != MethodDescriptor.Kind.CLIENT_STREAM) {
            return started;
        }
        noted = new NotedCall(started);
        return noted;
    }

    @Override
    public MethodDescriptor method() {
        return method;
    }

    @Override
    public Metadata headers() {
        return headers;
    }

    @Override
    public void addHeaders(Metadata more) {
        headers = headers.with(more);
    }

    @Override
    public void limit(Deadline limit) {
        deadline = StubCalls.earlier(deadline, limit.nanoTime());
    }

    @Override
    public void onEnd(CallObserver observer) {
        observers.add(observer);
    }

    @Override
    public void onBytes(ByteObserver observer) {
        ByteObserver first = bytes;
        bytes = first == null
                ? observer
                : (copied, byPointer) -> {
                    EndObservers.tellBytes(first, copied, byPointer);
                    EndObservers.tellBytes(observer, copied, byPointer);
                };
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
                throw new IllegalStateException(method + ": an interceptor runs 'next' "
                        + (ran ? "twice; make another call instead" : "on another thread; run it on its own"));
            }
            ran = true;
            try {
                proceed(index);
            } catch (RuntimeException | Error e) {
                failure = e;
                throw e;
            }
        }

        /** An interceptor cannot invent a result for a failed call. */
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
