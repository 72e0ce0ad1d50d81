package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ServerCall.ResultWriter;
import dev.rackcall.shm.codec.PayloadWriter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The producing end of a server stream. A virtual thread takes elements from the handler's stream, at most {@link #AHEAD} ahead of the
 * reader; a pull carries away what is ready, or waits for the next element. A reader that neither pulls nor closes for
 * {@link #READER_SECONDS} loses its stream.
 */
final class ServerStream<T> {
    private static final Logger LOG = LoggerFactory.getLogger(ServerStream.class);
    private static final int AHEAD = 64;
    private static final long READER_SECONDS = 60;

    private final ServerStreams owner;
    private final long id;
    private final Stream<T> elements;
    private final ResultWriter<T> writer;
    private final String method;
    private final CallMemory memory;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition room = lock.newCondition();
    private final Deque<T> ready = new ArrayDeque<>();
    private ShmServerCall waiting;
    private Throwable failure;
    private boolean done;
    private Thread producer;

    /**
     * @param memory of the call that the stream answers, which the elements may be computed from; null if it has none
     */
    ServerStream(
            ServerStreams owner,
            long id,
            Stream<T> elements,
            ResultWriter<T> writer,
            String method,
            CallMemory memory) {
        this.owner = owner;
        this.id = id;
        this.elements = elements;
        this.writer = writer;
        this.method = method;
        this.memory = memory;
    }

    void start() {
        producer = Thread.ofVirtual().name("rackcall-stream-" + id).start(this::produce);
    }

    private void produce() {
        Throwable thrown = null;
        try (Stream<T> source = elements) {
            Iterator<T> iterator = source.iterator();
            while (iterator.hasNext()) {
                if (!offer(iterator.next())) {
                    break;
                }
            }
        } catch (InterruptedException e) {
            thrown = Status.Code.CANCELLED
                    .with("%s: the stream was closed", method)
                    .asException();
        } catch (RuntimeException | Error e) {
            thrown = e;
        } finally {
            if (memory != null) {
                memory.leave();
            }
        }
        end(thrown);
    }

    private boolean offer(T element) throws InterruptedException {
        if (element == null) {
            throw Status.Code.INTERNAL
                    .with("%s: the handler's stream has a null element", method)
                    .asException();
        }
        lock.lockInterruptibly();
        try {
            while (!done && ready.size() >= AHEAD) {
                if (!room.await(READER_SECONDS, TimeUnit.SECONDS)) {
                    LOG.info("{}: nobody pulled from stream {} for {} s; it is closed", method, id, READER_SECONDS);
                    done = true;
                    owner.forget(id);
                }
            }
            if (done) {
                return false;
            }
            ready.add(element);
            answerWaiting();
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void end(Throwable thrown) {
        lock.lock();
        try {
            done = true;
            failure = thrown;
            answerWaiting();
        } finally {
            lock.unlock();
        }
    }

    /** Answers {@code call}, which was deferred, with what is ready now or next. */
    void pull(ShmServerCall call) {
        lock.lock();
        try {
            if (waiting != null) {
                refuse(call);
                return;
            }
            waiting = call;
            if (done || !ready.isEmpty()) {
                answerWaiting();
            }
        } finally {
            lock.unlock();
        }
    }

    private void refuse(ShmServerCall call) {
        if (call.mayAnswer()) {
            try {
                call.fail(Status.Code.FAILED_PRECONDITION
                        .with("%s: stream %d is already being pulled; one reader at a time", method, id)
                        .asException());
            } finally {
                call.endAnswer();
            }
        }
    }

    private void answerWaiting() {
        ShmServerCall call = waiting;
        if (call == null) {
            return;
        }
        waiting = null;
        if (!call.mayAnswer()) {
            return;
        }
        try {
            if (ready.isEmpty() && failure != null) {
                owner.forget(id);
                call.fail(failure);
            } else {
                encode(call);
                call.succeed();
            }
        } catch (RuntimeException | Error e) {
            done = true;
            owner.forget(id);
            call.fail(e);
        } finally {
            room.signalAll();
            call.endAnswer();
        }
    }

    private void encode(ShmServerCall call) {
        PayloadWriter out = call.result();
        int count = ready.size();
        boolean last = done && failure == null;
        out.writeLong(id);
        out.writeBoolean(last);
        out.writeCount(count);
        for (int i = 0; i < count; i++) {
            writer.write(out, call, ready.poll());
        }
        if (last) {
            owner.forget(id);
        }
    }

    /** The reader has gone. */
    void cancel() {
        lock.lock();
        try {
            done = true;
            ready.clear();
            failure = Status.Code.CANCELLED
                    .with("%s: the stream was closed", method)
                    .asException();
            answerWaiting();
            room.signalAll();
        } finally {
            lock.unlock();
        }
        owner.forget(id);
        Thread running = producer;
        if (running != null) {
            running.interrupt();
        }
    }
}
