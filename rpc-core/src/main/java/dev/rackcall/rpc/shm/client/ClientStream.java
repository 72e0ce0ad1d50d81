package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientCall.ResultReader;
import dev.rackcall.rpc.spi.EndObservers;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The consuming end of a server stream: keeps the elements of the last answer and pulls more when they are used up.
 * Used by one thread at a time, as any stream.
 *
 * <p>An answer is {@code long stream id, boolean last, int count, elements}.
 */
final class ClientStream<T> extends Spliterators.AbstractSpliterator<T> {
    /** The connection that a stream pulls its elements from. */
    interface Source {
        /** Requests more elements of a stream, and passes the answer to {@code taker}. */
        void pull(
                CalledService service,
                MethodDescriptor method,
                long id,
                long deadline,
                BiConsumer<PayloadReader, ClientCall> taker);

        /** Tells the server that the stream is not read any more. */
        void closeStream(long id);

        /** The number of streams that are read has changed by that much. */
        void reads(int more);
    }

    private final Source source;
    private final CalledService service;
    private final MethodDescriptor method;
    private final ResultReader<T> reader;
    private final long deadline;
    private final CallObserver observer;
    private final Deque<T> ready = new ArrayDeque<>();
    private long id;
    private boolean last;
    private boolean told;
    /** Whether the source counts it. */
    private boolean counted;
    /** The call that opens the stream, until its answer is read; null if it was read before the stream was returned. */
    private Future<?> opening;
    /** The stream that the call sends; null if it sends none. */
    private OutgoingStream<?> sending;
    /** Of all answers so far. */
    private Metadata trailers = Metadata.EMPTY;

    ClientStream(
            Source source,
            CalledService service,
            MethodDescriptor method,
            ResultReader<T> reader,
            long deadline,
            CallObserver observer) {
        super(Long.MAX_VALUE, Spliterator.ORDERED | Spliterator.NONNULL);
        this.source = source;
        this.service = service;
        this.method = method;
        this.reader = reader;
        this.deadline = deadline;
        this.observer = observer;
    }

    void sends(OutgoingStream<?> stream) {
        sending = stream;
    }

    /** The first answer comes by this future, which has accepted it by then. */
    void opens(Future<?> answer) {
        opening = answer;
    }

    /** The user's stream, after the first answer was accepted, or will be. */
    Stream<T> stream() {
        if (opening == null) {
            tellIfLast();
        }
        if (!told) {
            counted = true;
            source.reads(1);
        }
        return StreamSupport.stream(this, false).onClose(this::closeEarly);
    }

    /**
     * Takes in one answer.
     *
     * @throws PayloadException if it is malformed
     */
    void accept(PayloadReader in, ClientCall call) {
        id = in.readLong();
        boolean isLast = in.readBoolean();
        int count = in.readCount(1);
        for (int i = 0; i < count; i++) {
            ready.add(reader.read(in, call));
        }
        if (count == 0 && !isLast) {
            throw new PayloadException("an answer of a stream that goes on has no elements");
        }
        add(call.trailers());
        last = isLast;
    }

    private void add(Metadata more) {
        try {
            trailers = trailers.with(more);
        } catch (IllegalArgumentException e) {
            // No correct server exceeds the limit of a call.
            throw new PayloadException("the answers of a stream have too many trailers: " + e.getMessage(), e);
        }
    }

    private void tellIfLast() {
        if (last) {
            tell(Status.OK);
        }
    }

    @Override
    public boolean tryAdvance(Consumer<? super T> action) {
        while (ready.isEmpty()) {
            if (opening != null) {
                open();
            } else if (last) {
                return false;
            } else {
                pull();
            }
        }
        action.accept(ready.poll());
        return true;
    }

    private void open() {
        Future<?> answer = opening;
        opening = null;
        more(() -> {
            try {
                answer.get();
            } catch (InterruptedException e) {
                answer.cancel(true);
                Thread.currentThread().interrupt();
                throw ClientFailure.interrupted(method.fullName()).asException(e);
            } catch (ExecutionException e) {
                // Thrown at another thread: with the stack of the reader.
                throw e.getCause() instanceof RpcException failed
                        ? new RpcException(failed.status(), failed.trailers(), failed)
                        : ClientFailure.decodingFailed(method.fullName(), e.getCause())
                                .asException(e);
            }
        });
    }

    private void pull() {
        more(() -> source.pull(service, method, id, deadline, this::accept));
    }

    private void more(Runnable how) {
        try {
            how.run();
        } catch (RuntimeException | Error e) {
            // The server must not keep the stream, whatever the reader threw.
            forsake();
            last = true;
            if (e instanceof RpcException failed) {
                failed.fromCall();
                trailers = failed.trailers();
                if (sending != null) {
                    sending.explain(failed);
                }
            }
            tell(
                    e instanceof RpcException failed
                            ? failed.status()
                            : ClientFailure.decodingFailed(method.fullName(), e));
            throw e;
        }
        tellIfLast();
    }

    /**
     * Tells the server after a failure that the stream is no longer read. A server that reported the failure itself has
     * already dropped the stream.
     */
    void forsake() {
        if (id != 0) {
            source.closeStream(id);
        }
    }

    private void closeEarly() {
        if (opening != null) {
            // The server is told by the call's number if it has not answered, else by the stream's.
            opening.cancel(true);
            opening = null;
        }
        if (!last || !told) {
            last = true;
            forsake();
            tell(Status.Code.CANCELLED.with("%s: the stream was closed by its reader", method.fullName()));
        }
        ready.clear();
    }

    private void tell(Status status) {
        if (!told) {
            told = true;
            if (counted) {
                source.reads(-1);
            }
            if (sending != null) {
                sending.end();
            }
            EndObservers.tell(observer, status, trailers);
        }
    }
}
