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

    /** The user's stream, after the first answer was accepted. */
    Stream<T> stream() {
        tellIfLast();
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
            if (last) {
                return false;
            }
            pull();
        }
        action.accept(ready.poll());
        return true;
    }

    private void pull() {
        try {
            source.pull(service, method, id, deadline, this::accept);
        } catch (RuntimeException | Error e) {
            // The server must not keep the stream, whatever the reader threw.
            forsake();
            last = true;
            if (e instanceof RpcException failed) {
                trailers = failed.trailers();
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
        if (!last) {
            last = true;
            forsake();
            tell(Status.Code.CANCELLED.with("%s: the stream was closed by its reader", method.fullName()));
        }
        ready.clear();
    }

    private void tell(Status status) {
        if (!told) {
            told = true;
            EndObservers.tell(observer, status, trailers);
        }
    }
}
