package dev.rackcall.verbs.real;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.verbs.CompletionChannel;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.ffi.CapturedErrno;
import dev.rackcall.verbs.ffi.IbvCompChannel;
import dev.rackcall.verbs.ffi.Libibverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** A struct ibv_comp_channel. */
final class RealCompletionChannel implements CompletionChannel {
    private final RealContext context;
    private final long pointer;
    private final int descriptor;
    private final Map<Long, CompletionQueue> queues = new ConcurrentHashMap<>();
    /** Held while an announcement is read that is known to be there, and while queues are closed. */
    private final Object reading = new Object();

    private final AtomicBoolean closed = new AtomicBoolean();

    RealCompletionChannel(RealContext context, long pointer) {
        this.context = context;
        this.pointer = pointer;
        descriptor = IbvCompChannel.fd(MemorySegment.ofAddress(pointer).reinterpret(IbvCompChannel.BYTES));
        context.opened();
    }

    long pointer() {
        return pointer;
    }

    void add(long queue, CompletionQueue object) {
        synchronized (reading) {
            // Only now: the address may be that of a queue that is just being closed.
            queues.put(queue, object);
        }
    }

    /** Closes a queue that announces itself here. Whatever it has announced goes with it, so nobody may be about to read that: the read would wait for the next announcement of any queue, for ever if need be. */
    void close(long queue, Runnable closing) {
        synchronized (reading) {
            closing.run();
            queues.remove(queue);
        }
    }

    @Override
    public Optional<CompletionQueue> await(Duration atMost) {
        long deadline = System.nanoTime() + atMost.toNanos();
        Duration left = atMost;
        while (Descriptors.isReadable(descriptor, left)) {
            synchronized (reading) {
                // Perhaps another thread has read it meanwhile, or its queue is closed.
                if (Descriptors.isReadable(descriptor, Duration.ZERO)) {
                    return Optional.ofNullable(read());
                }
            }
            left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
        }
        return Optional.empty();
    }

    private CompletionQueue read() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment queue = arena.allocate(JAVA_LONG);
            MemorySegment cookie = arena.allocate(JAVA_LONG);
            Verb.zero(
                    Libibverbs.ibvGetCqEvent(CapturedErrno.current(), pointer, queue.address(), cookie.address()),
                    "reading an event of a completion channel");
            long announced = queue.get(JAVA_LONG, 0);
            Libibverbs.ibvAckCqEvents(CapturedErrno.current(), announced, 1);
            return queues.get(announced);
        }
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            Closing.run(
                    closed,
                    () -> Libibverbs.ibvDestroyCompChannel(CapturedErrno.current(), pointer),
                    "closing a completion channel");
            context.closed();
        }
    }
}
