package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall.ResultReader;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The consuming end of a server stream: holds the elements of the last answer and pulls for more when they are used up. Used by one
 * thread at a time, as any stream.
 *
 * <p>An answer is {@code long stream id, boolean last, int count, elements}.
 */
final class ClientStream<T> extends Spliterators.AbstractSpliterator<T> {
    private final ShmClientConnection connection;
    private final MethodDescriptor method;
    private final ResultReader<T> reader;
    private final long deadline;
    private final CallObserver observer;
    private final Deque<T> ready = new ArrayDeque<>();
    private long id;
    private boolean last;
    private boolean told;

    ClientStream(
            ShmClientConnection connection,
            MethodDescriptor method,
            ResultReader<T> reader,
            long deadline,
            CallObserver observer) {
        super(Long.MAX_VALUE, Spliterator.ORDERED | Spliterator.NONNULL);
        this.connection = connection;
        this.method = method;
        this.reader = reader;
        this.deadline = deadline;
        this.observer = observer;
    }

    /** What its reader reads; after the first answer was accepted. */
    Stream<T> stream() {
        tellIfLast();
        return StreamSupport.stream(this, false).onClose(this::closeEarly);
    }

    /**
     * Takes in one answer.
     *
     * @throws PayloadException if it is none
     */
    void accept(PayloadReader in, ShmClientCall call) {
        id = in.readLong();
        boolean isLast = in.readBoolean();
        int count = in.readCount(1);
        for (int i = 0; i < count; i++) {
            ready.add(reader.read(in, call));
        }
        if (count == 0 && !isLast) {
            throw new PayloadException("an answer of a stream that goes on has no elements");
        }
        last = isLast;
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
            ShmClientCall call = connection.slots.claim(deadline);
            try {
                accept(call.callControl(method, ControlOp.STREAM_PULL, id, deadline), call);
            } catch (PayloadException e) {
                throw call.rejected(e);
            } finally {
                call.close();
            }
        } catch (RuntimeException | Error e) {
            // Whatever a reader throws: the server must not keep a stream for nobody.
            forsake();
            last = true;
            tell(
                    e instanceof RpcException failed
                            ? failed.status()
                            : ClientFailure.decodingFailed(method.fullName(), e));
            throw e;
        }
        tellIfLast();
    }

    /** Tells the server that nobody reads on after a failure; if the failure is its own, it has forgotten the stream already. */
    void forsake() {
        if (id != 0) {
            connection.control(ControlOp.STREAM_CLOSE, id);
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
            Observers.tell(observer, status);
        }
    }
}
