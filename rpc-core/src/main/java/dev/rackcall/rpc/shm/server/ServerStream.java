package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.Observers;
import dev.rackcall.rpc.spi.EndObservers;
import dev.rackcall.rpc.spi.ServerCall.ResultWriter;
import dev.rackcall.shm.codec.PayloadWriter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The producing end of a server stream. A virtual thread takes elements from the handler's stream, at most {@link
 * #AHEAD} ahead of the reader. A pull takes what is ready, or waits for the next element. A reader that neither pulls
 * nor closes for {@link #READER_SECONDS} loses its stream: at once if elements wait for room, else when another stream
 * needs its place.
 */
final class ServerStream<T> {
    private static final Logger LOG = LoggerFactory.getLogger(ServerStream.class);
    private static final int AHEAD = 64;
    private static final long READER_SECONDS = 60;

    private final ServerStreams owner;
    private final long id;
    private final long opener;
    private final Stream<T> elements;
    private final ResultWriter<T> writer;
    private final String method;
    private final ServiceBinding service;
    private final ServerContext context;
    private final IncomingStream incoming;
    private final CallMemory memory;
    private final LongSupplier nanoTime;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition room = lock.newCondition();
    private final Deque<T> ready = new ArrayDeque<>();
    private DeferrableCall waiting;
    private Throwable failure;
    private boolean done;
    private Thread producer;
    /** No more elements are taken from the handler's stream. */
    private boolean produced;
    /** Answers being encoded. */
    private int answering;
    /** By {@link #nanoTime}: when the stream was opened, or last answered a pull. */
    private long wanted;
    /** The arguments are released; elements may be computed from them until they are encoded. */
    private boolean left;

    /**
     * The call that returned a stream.
     *
     * @param method its full name
     * @param service its service
     * @param context with its observers and trailers; null if the call has none
     * @param incoming the stream that its caller sends, which lasts as long as this one; null if it sends none
     */
    record Opener(long ticket, String method, ServiceBinding service, ServerContext context, IncomingStream incoming) {}

    /** @param memory from which the elements may be computed; null if the call has none */
    ServerStream(
            ServerStreams owner,
            long id,
            Opener opener,
            CallMemory memory,
            Stream<T> elements,
            ResultWriter<T> writer) {
        this.owner = owner;
        this.id = id;
        this.opener = opener.ticket;
        this.elements = elements;
        this.writer = writer;
        this.method = opener.method;
        this.service = opener.service;
        this.context = opener.context;
        this.incoming = opener.incoming;
        this.memory = memory;
        this.nanoTime = owner.nanoTime();
        this.wanted = nanoTime.getAsLong();
    }

    long id() {
        return id;
    }

    /** The service whose objects its elements are. */
    ServiceBinding service() {
        return service;
    }

    /** Whether its reader has not pulled for too long. */
    boolean isForsaken() {
        lock.lock();
        try {
            return waiting == null && nanoTime.getAsLong() - wanted > TimeUnit.SECONDS.toNanos(READER_SECONDS);
        } finally {
            lock.unlock();
        }
    }

    /**
     * The answer to one pull. Taken under the lock and encoded without it: encoding runs users' code, which must not
     * delay a close.
     */
    private record Answer<T>(DeferrableCall call, List<T> elements, boolean last, Optional<Throwable> failure) {}

    /** Begins to take elements. If that fails, a waiting pull is answered with the failure. */
    void start() {
        try {
            Thread thread = Thread.ofVirtual().name("rackcall-stream-" + id).unstarted(this::produce);
            lock.lock();
            try {
                producer = thread;
            } finally {
                lock.unlock();
            }
            thread.start();
            interruptIfOver(thread);
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    /** Interrupts the thread if the stream ended before it ran. */
    private void interruptIfOver(Thread thread) {
        lock.lock();
        try {
            if (done && !produced) {
                thread.interrupt();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends the stream with a failure, without elements. */
    private void fail(Throwable why) {
        try (elements) {
            LOG.debug("{}: stream {} could not be started", method, id, why);
        } finally {
            end(why);
        }
    }

    private void produce() {
        end(takeElements());
    }

    /**
     * Reads all elements on the calling thread, which must then call {@link #end}.
     *
     * @throws RuntimeException or an error, the failure of the stream
     */
    void produceHere() {
        lock.lock();
        try {
            producer = Thread.currentThread();
        } finally {
            lock.unlock();
        }
        interruptIfOver(Thread.currentThread());
        switch (takeElements()) {
            case null -> {}
            case Error e -> throw e;
            case RuntimeException e -> throw e;
            case Throwable t -> throw new AssertionError(t);
        }
    }

    /** Returns the failure, null if there was none. */
    private Throwable takeElements() {
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
        }
        if (thrown == null && memory != null && memory.hasLostItsSeal()) {
            thrown = Status.Code.ABORTED
                    .with("%s: the holder of its arguments' seal has ended, so they may have changed", method)
                    .asException();
        }
        return thrown;
    }

    private void leaveArgumentsIfOver() {
        boolean over;
        lock.lock();
        try {
            over = memory != null && !left && produced && ready.isEmpty() && answering == 0;
            left |= over;
        } finally {
            lock.unlock();
        }
        if (over) {
            memory.leave();
        }
    }

    private boolean offer(T element) throws InterruptedException {
        if (element == null) {
            throw Status.Code.INTERNAL
                    .with("%s: the handler's stream has a null element", method)
                    .asException();
        }
        Optional<Answer<T>> answer;
        lock.lockInterruptibly();
        try {
            while (!done && ready.size() >= AHEAD) {
                if (!room.await(READER_SECONDS, TimeUnit.SECONDS)) {
                    LOG.info("{}: stream {} was not read for {} s; it is closed", method, id, READER_SECONDS);
                    // A pull that arrives now must not see a normal end.
                    failure = Status.Code.CANCELLED
                            .with("%s: the stream was not read for %d s", method, READER_SECONDS)
                            .asException();
                    done = true;
                    ready.clear();
                    owner.forget(id);
                }
            }
            if (done) {
                return false;
            }
            ready.add(element);
            answer = takeAnswer();
        } finally {
            lock.unlock();
        }
        answer.ifPresent(this::answer);
        return true;
    }

    /**
     * Called when there are no more elements.
     *
     * @param thrown why; null after the last one
     */
    void end(Throwable thrown) {
        Optional<Answer<T>> answer;
        Throwable why;
        lock.lock();
        try {
            produced = true;
            done = true;
            if (failure == null) {
                failure = thrown;
            }
            why = failure;
            answer = takeAnswer();
        } finally {
            lock.unlock();
        }
        try {
            answer.ifPresent(this::answer);
        } finally {
            leaveArgumentsIfOver();
            if (incoming != null) {
                incoming.close();
            }
            tellObservers(why);
        }
    }

    private void tellObservers(Throwable why) {
        if (context != null) {
            EndObservers.tell(
                    context.observers(),
                    why == null ? Status.OK : Failure.statusOf(why, method, context.isCancelled()),
                    context.addedTrailers());
        }
    }

    private void addTrailers(DeferrableCall call) {
        if (context != null) {
            call.addTrailers(context.takeTrailers());
        }
    }

    /** The full name of the method that returned it. */
    String method() {
        return method;
    }

    boolean isOpenedBy(long ticket) {
        return opener == ticket;
    }

    /** Answers the deferred {@code call} with the elements that are ready now or next. */
    void pull(DeferrableCall call) {
        boolean taken;
        Optional<Answer<T>> answer;
        lock.lock();
        try {
            taken = waiting == null;
            if (taken) {
                waiting = call;
            }
            answer = takeAnswer();
        } finally {
            lock.unlock();
        }
        if (!taken) {
            refuse(call);
        }
        answer.ifPresent(this::answer);
    }

    private void refuse(DeferrableCall call) {
        call.answerLate(() -> call.fail(Status.Code.FAILED_PRECONDITION
                .with("%s: stream %d is already being pulled; one reader at a time", method, id)
                .asException()));
    }

    /** Takes the answer to the waiting pull, if a pull waits and its answer is ready. Called under the lock. */
    private Optional<Answer<T>> takeAnswer() {
        if (waiting == null || (ready.isEmpty() && !done)) {
            return Optional.empty();
        }
        DeferrableCall call = waiting;
        waiting = null;
        wanted = nanoTime.getAsLong();
        answering++;
        List<T> elements = List.copyOf(ready);
        ready.clear();
        room.signalAll();
        // The elements before a failure come first; the next pull gets the failure.
        return Optional.of(new Answer<>(
                call,
                elements,
                done && failure == null,
                elements.isEmpty() ? Optional.ofNullable(failure) : Optional.empty()));
    }

    private void answer(Answer<T> answer) {
        try {
            answer.call.answerLate(() -> end(answer.call, answer));
        } finally {
            lock.lock();
            try {
                answering--;
            } finally {
                lock.unlock();
            }
            leaveArgumentsIfOver();
        }
    }

    private void end(DeferrableCall call, Answer<T> answer) {
        addTrailers(call);
        if (answer.failure.isPresent()) {
            owner.forget(id);
            call.fail(answer.failure.get());
            return;
        }
        try {
            encode(answer);
        } catch (RuntimeException | Error e) {
            produceNoMore();
            throw e;
        }
        if (!call.succeed()) {
            // The call has failed instead, so its caller reads no further.
            cancel();
        }
    }

    private void encode(Answer<T> answer) {
        PayloadWriter out = answer.call.result();
        out.writeLong(id);
        out.writeBoolean(answer.last);
        out.writeCount(answer.elements.size());
        long before = out.length();
        for (T element : answer.elements) {
            writer.write(out, answer.call, element);
        }
        if (context != null) {
            context.copied(out.length() - before);
        }
        if (answer.last) {
            owner.forget(id);
        }
    }

    /** An element could not be encoded. */
    private void produceNoMore() {
        lock.lock();
        try {
            done = true;
            room.signalAll();
        } finally {
            lock.unlock();
        }
        owner.forget(id);
        if (incoming != null) {
            incoming.close();
        }
    }

    /** The reader has gone. */
    void cancel() {
        Optional<Answer<T>> answer;
        Thread running;
        lock.lock();
        try {
            done = true;
            ready.clear();
            failure = Status.Code.CANCELLED
                    .with("%s: the stream was closed", method)
                    .asException();
            answer = takeAnswer();
            running = producer;
            room.signalAll();
        } finally {
            lock.unlock();
        }
        answer.ifPresent(this::answer);
        owner.forget(id);
        leaveArgumentsIfOver();
        if (incoming != null) {
            incoming.close(Status.Code.CANCELLED.with("%s: its caller has closed the returned stream", method));
        }
        if (running != null) {
            // Aside: an interrupt also closes the channel that the thread reads, which may take long.
            Observers.cancelledAside(List.of(running::interrupt));
        }
    }
}
