package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.ControlOp;
import dev.rackcall.rpc.spi.ClientCall.ElementWriter;
import dev.rackcall.shm.codec.PayloadWriter;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The stream that a call sends. One virtual thread takes elements from the caller's stream, at most {@link #AHEAD}
 * ahead; another one sends what is ready in one request, whose answer comes once the handler takes it. A slow handler
 * therefore stops the caller's stream.
 */
final class OutgoingStream<T> {
    /** The connection that the elements travel over. */
    interface Sink {
        /**
         * Sends one request of the stream, and waits for its answer: whether the handler wants more.
         *
         * @param operands encodes it
         */
        boolean push(CalledService service, MethodDescriptor method, long deadline, Consumer<PayloadWriter> operands);

        /** The stream is being sent; {@link #stop} follows if the connection ends before it. */
        void sends(OutgoingStream<?> stream);

        /** The stream has ended: another call may send one. */
        void ended(OutgoingStream<?> stream);
    }

    private static final Logger LOG = LoggerFactory.getLogger(OutgoingStream.class);

    private static final int AHEAD = 64;
    /** A request that has become this long takes no further element. */
    private static final long REQUEST_BYTES = 64 << 10;
    /** How long the end of a call waits for a stream that is being read. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    /** For calls without a deadline, whose end also ends the stream. */
    private static final long LONGEST_PUSH_NANOS = TimeUnit.DAYS.toNanos(365);

    private final Sink sink;
    private final DeadlineClock clock;
    private final CalledService service;
    private final MethodDescriptor method;
    /** On the clock. */
    private final long deadline;

    private final Stream<T> elements;
    private final ElementWriter<T> writer;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Deque<T> ready = new ArrayDeque<>();
    private Thread producer;
    /** Whether both threads have started, which end the stream. */
    private boolean started;
    /** No more elements are taken from the caller's stream. */
    private boolean produced;
    /** Why it ended early; null if it did not. */
    private Throwable failure;
    /** The call has ended, or the handler wants no more. */
    private boolean over;

    /** The call's ticket. */
    private long ticket;

    /** Whether the request that was encoded last ends the stream. Sender's thread only. */
    private boolean last;

    /** For a call that the connection lets send a stream; {@link #end} must follow. */
    OutgoingStream(
            Sink sink,
            DeadlineClock clock,
            CalledService service,
            MethodDescriptor method,
            long deadline,
            Stream<T> elements,
            ElementWriter<T> writer) {
        this.sink = sink;
        this.clock = clock;
        this.service = service;
        this.method = method;
        this.deadline = deadline;
        this.elements = elements;
        this.writer = writer;
    }

    /** Begins to send; the call with that ticket was sent. If it throws, {@link #end} must follow. */
    void start(long callTicket) {
        ticket = callTicket;
        Thread taking = Thread.ofVirtual().name("rackcall-stream-source").unstarted(this::produce);
        Thread sending = Thread.ofVirtual().name("rackcall-stream-sender").unstarted(this::send);
        lock.lock();
        try {
            producer = taking;
            taking.start();
            if (over) {
                // The call has ended in the meantime.
                taking.interrupt();
            }
            sending.start();
            started = true;
        } finally {
            lock.unlock();
        }
        sink.sends(this);
    }

    /**
     * The call has ended: nothing more is sent, and the caller's stream is closed. Waits for the thread that reads it,
     * for a second at most, so that the caller may use the stream's source again.
     */
    void end() {
        stop();
        if (hasStarted()) {
            awaitProducer();
        } else {
            sink.ended(this);
            try {
                elements.close();
            } catch (RuntimeException | Error e) {
                // The call has failed already, and its caller gets that failure.
                LOG.warn("{}: the stream that the failed call was to send could not be closed", method, e);
            }
        }
    }

    private void awaitProducer() {
        try {
            if (!producer.join(PATIENCE)) {
                LOG.warn(
                        "{}: the call has ended, but the stream that it sent ignores the interrupt and still runs",
                        method);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean hasStarted() {
        lock.lock();
        try {
            return started;
        } finally {
            lock.unlock();
        }
    }

    /** Adds the failure of the caller's stream, if it failed, to that of the call. */
    void explain(RpcException e) {
        lock.lock();
        try {
            if (failure != null && failure != e) {
                e.addSuppressed(failure);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Takes and sends no more elements. Never runs users' code. */
    void stop() {
        lock.lock();
        try {
            over = true;
            ready.clear();
            changed.signalAll();
            if (producer != null && !produced) {
                producer.interrupt();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- the caller's stream

    private void produce() {
        Throwable thrown = null;
        try (Stream<T> source = elements) {
            Iterator<T> iterator = source.iterator();
            while (iterator.hasNext() && offer(iterator.next())) {
                // The loop's condition does the work.
            }
        } catch (InterruptedException e) {
            thrown = e;
        } catch (RuntimeException | Error e) {
            thrown = e;
        }
        endProducing(thrown);
    }

    private boolean offer(T element) throws InterruptedException {
        if (element == null) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("%s: the stream that it sends has a null element; use Optional", method)
                    .asException();
        }
        lock.lockInterruptibly();
        try {
            while (!over && !produced && ready.size() >= AHEAD) {
                changed.await();
            }
            if (over || produced) {
                return false;
            }
            ready.add(element);
            changed.signalAll();
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void endProducing(Throwable thrown) {
        lock.lock();
        try {
            produced = true;
            // An exception that it throws because it was stopped is not its own failure.
            if (failure == null && !over) {
                failure = thrown;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    // ---- sending

    private void send() {
        try {
            boolean failed = false;
            while (hasMore()) {
                try {
                    if (!sink.push(service, method, pushDeadline(), this::encode) || last) {
                        break;
                    }
                } catch (RuntimeException | Error e) {
                    if (failed) {
                        break;
                    }
                    // An element that cannot be encoded, or a lost connection: try to tell the handler.
                    failed = true;
                    fail(e);
                }
            }
        } finally {
            stop();
            sink.ended(this);
        }
    }

    private long pushDeadline() {
        return deadline != 0 ? deadline : clock.nanoTime() + LONGEST_PUSH_NANOS;
    }

    /** Waits for something to send; false if nothing more is to be sent, or the deadline has passed. */
    private boolean hasMore() {
        lock.lock();
        try {
            while (!over && !produced && ready.isEmpty()) {
                if (deadline == 0) {
                    changed.await();
                } else if (clock.left(deadline) > 0) {
                    var _ = changed.awaitNanos(clock.longestSleep(clock.left(deadline)));
                } else {
                    return false;
                }
            }
            return !over;
        } catch (InterruptedException e) {
            // Only the runtime knows this thread, and does not interrupt it.
            return false;
        } finally {
            lock.unlock();
        }
    }

    private void fail(Throwable why) {
        lock.lock();
        try {
            ready.clear();
            failure = why;
            if (!produced) {
                produced = true;
                producer.interrupt();
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Encodes what is ready. Without the lock, since it runs users' code. */
    private void encode(PayloadWriter out) {
        out.writeLong(ticket);
        long at = out.reserveCount();
        int count = 0;
        T next = take();
        while (next != null) {
            writer.write(out, next);
            count++;
            // The caller's stream goes on in the meantime, so what is ready may never come to an end.
            next = count < AHEAD && out.length() < REQUEST_BYTES ? take() : null;
        }
        out.setCount(at, count);
        Throwable thrown;
        boolean all;
        lock.lock();
        try {
            all = produced && ready.isEmpty();
            thrown = failure;
        } finally {
            lock.unlock();
        }
        last = all;
        if (!all) {
            out.writeByte(ControlOp.MORE_FOLLOW);
        } else if (thrown == null) {
            out.writeByte(ControlOp.ALL_SENT);
        } else {
            Status status = statusOf(thrown);
            out.writeByte(ControlOp.SENDING_FAILED);
            out.writeInt(status.code().number());
            out.writeString(status.description(), "failure");
        }
    }

    private T take() {
        lock.lock();
        try {
            T next = ready.poll();
            if (next != null) {
                changed.signalAll();
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    private Status statusOf(Throwable thrown) {
        return thrown instanceof RpcException e
                ? e.status()
                : Status.Code.UNKNOWN.with("%s: the stream that its caller sends threw %s", method, thrown);
    }
}
