package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.ControlOp;
import dev.rackcall.rpc.spi.ServerCall.ElementReader;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The handler's end of a stream that a caller sends. A request with elements stays in its slot until the handler wants
 * them; its answer asks for the next one. The server therefore holds one request's elements at most.
 *
 * <p>A long request is answered only when the handler has used up its elements. Until then it counts against the client's
 * budget, so that many streams cannot fill the server's heap.
 */
final class IncomingStream {
    /** Streams that one client may send at the same time: each has a handler's thread. */
    static final int MAX_OPEN = 256;
    /** Twice what an honest client sends at once, unless one element is longer. */
    private static final long LONG_BYTES = 128 << 10;

    private final Map<Long, IncomingStream> registry;
    private final long ticket;
    private final String method;
    private final ServiceBinding service;
    private final DeadlineClock clock;
    private final long deadline;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    /** What was sent and not taken. */
    private Pushed pushed;
    /** A long request whose elements the handler has, to be answered when it has used them up; null if there is none. */
    private DeferrableCall held;
    /** Why nothing more is received; null as long as it is. */
    private Status over;

    /** A request with elements, whose answer is deferred. */
    private record Pushed(DeferrableCall call, PayloadReader operands, boolean isLong) {}

    /**
     * @param registry of the connection, by ticket; holds the stream until it is closed
     * @param ticket of the call whose caller sends it
     * @param method the full name of the method that receives it
     * @param deadline of the call, on the clock; 0 if the request had none
     */
    IncomingStream(
            Map<Long, IncomingStream> registry,
            long ticket,
            String method,
            ServiceBinding service,
            DeadlineClock clock,
            long deadline) {
        this.registry = registry;
        this.ticket = ticket;
        this.method = method;
        this.service = service;
        this.clock = clock;
        this.deadline = deadline;
        registry.put(ticket, this);
    }

    String method() {
        return method;
    }

    /** The service whose objects its elements are. */
    ServiceBinding service() {
        return service;
    }

    /** Receives the deferred {@code call}, which has sent elements. Called by the thread that took its request. */
    void push(DeferrableCall call, PayloadReader operands, long length) {
        boolean taken;
        boolean wanted;
        lock.lock();
        try {
            wanted = over == null;
            taken = wanted && pushed == null && held == null;
            if (taken) {
                pushed = new Pushed(call, operands, length > LONG_BYTES);
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
        if (!wanted) {
            answer(call, false);
        } else if (!taken) {
            call.answerLate(() -> call.fail(Status.Code.FAILED_PRECONDITION
                    .with("%s: the caller has sent elements before the handler has taken the ones before them", method)
                    .asException()));
        }
    }

    private static void answer(DeferrableCall call, boolean wantsMore) {
        call.answerLate(() -> {
            call.result().writeBoolean(wantsMore);
            call.succeed();
        });
    }

    /** The call has ended, or its handler has closed the stream. */
    void close() {
        close(Status.Code.CANCELLED.with(
                "%s: the stream that its caller sends is closed: it lasts until it is closed or the call has ended",
                method));
    }

    /** Ends the stream: a handler that reads it gets this failure, and the caller is told to send no more. */
    void close(Status why) {
        Pushed left;
        DeferrableCall used;
        lock.lock();
        try {
            if (over == null) {
                over = why;
            }
            left = pushed;
            pushed = null;
            used = held;
            held = null;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        registry.remove(ticket, this);
        if (left != null) {
            answer(left.call, false);
        }
        if (used != null) {
            answer(used, false);
        }
    }

    /** Keeps the request until {@link #usedUp}; false if the stream is closed. */
    private boolean hold(DeferrableCall call) {
        lock.lock();
        try {
            if (over == null) {
                held = call;
            }
            return over == null;
        } finally {
            lock.unlock();
        }
    }

    /** The request that the handler has used up; null if it was answered. */
    private DeferrableCall usedUp() {
        lock.lock();
        try {
            DeferrableCall used = held;
            held = null;
            return used;
        } finally {
            lock.unlock();
        }
    }

    /** The handler's stream. */
    <T> Stream<T> elements(ElementReader<T> reader) {
        return StreamSupport.stream(new Elements<>(reader), false).onClose(this::close);
    }

    private Pushed await() {
        try {
            lock.lockInterruptibly();
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        try {
            while (pushed == null && over == null) {
                if (deadline == 0) {
                    changed.await();
                } else if (clock.left(deadline) > 0) {
                    var _ = changed.awaitNanos(clock.longestSleep(clock.left(deadline)));
                } else {
                    throw Status.Code.DEADLINE_EXCEEDED
                            .with("%s: its caller sent no element before the deadline", method)
                            .asException();
                }
            }
            if (over != null) {
                throw over.asException();
            }
            Pushed taken = pushed;
            pushed = null;
            return taken;
        } catch (InterruptedException e) {
            throw interrupted(e);
        } finally {
            lock.unlock();
        }
    }

    private RuntimeException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return Status.Code.CANCELLED
                .with("%s: its handler's thread was interrupted while it waited for an element", method)
                .asException(e);
    }

    /** Used by one thread at a time, as any stream. */
    private final class Elements<T> extends Spliterators.AbstractSpliterator<T> {
        private final ElementReader<T> reader;
        private final Deque<T> ready = new ArrayDeque<>();
        /** Null while more may come. */
        private Status end;

        Elements(ElementReader<T> reader) {
            super(Long.MAX_VALUE, Spliterator.ORDERED | Spliterator.NONNULL);
            this.reader = reader;
        }

        @Override
        public boolean tryAdvance(Consumer<? super T> action) {
            while (ready.isEmpty()) {
                DeferrableCall used = usedUp();
                if (used != null) {
                    answerOutside(used, () -> succeed(used));
                } else if (end == null) {
                    take(await());
                } else if (end.isOk()) {
                    return false;
                } else {
                    throw end.asException();
                }
            }
            action.accept(ready.poll());
            return true;
        }

        private void take(Pushed next) {
            DeferrableCall call = next.call;
            boolean isThere;
            try {
                isThere = call.readLate(() -> decode(next.operands));
            } catch (RuntimeException | Error e) {
                answerOutside(call, () -> call.fail(e));
                throw e;
            }
            if (!isThere) {
                answerOutside(call, () -> {});
                throw clientGone(method).asException();
            }
            if (!next.isLong || !hold(call)) {
                answerOutside(call, () -> succeed(call));
            }
        }

        private void succeed(DeferrableCall call) {
            call.result().writeBoolean(end == null);
            call.succeed();
        }

        /** The answer lies outside of the handler's walls. */
        private static void answerOutside(DeferrableCall call, Runnable answer) {
            HandlerWalls.Wall wall = call.wall();
            int confined = wall.lift();
            try {
                call.answerLate(answer);
            } finally {
                wall.lower(confined);
            }
        }

        private void decode(PayloadReader in) {
            int count = in.readCount(1);
            for (int i = 0; i < count; i++) {
                ready.add(reader.read(in));
            }
            end = readEnd(in);
            in.expectEnd();
        }

        private static Status readEnd(PayloadReader in) {
            byte how = in.readByte();
            return switch (how) {
                case ControlOp.MORE_FOLLOW -> null;
                case ControlOp.ALL_SENT -> Status.OK;
                case ControlOp.SENDING_FAILED -> failure(in.readInt(), in.readString());
                default -> throw new PayloadException("a stream cannot go on by " + how);
            };
        }

        private static Status failure(int code, String description) {
            Status.Code known = Status.Code.ofNumber(code);
            return (known == Status.Code.OK ? Status.Code.UNKNOWN : known).with(description);
        }
    }

    static Status clientGone(String method) {
        return Status.Code.UNAVAILABLE.with("%s: its client is gone", method);
    }
}
