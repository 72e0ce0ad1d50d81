package dev.rackcall.verbs.real;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.verbs.CompletionChannel;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.ffi.Libibverbs;
import dev.rackcall.verbs.ffi.Structs.IbvCompChannel;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;

/** A struct ibv_comp_channel. */
final class RealCompletionChannel extends NativeObject implements CompletionChannel {
    private final int descriptor;
    private final Map<Long, CompletionQueue> queues = new ConcurrentHashMap<>();
    /** Held while a pending notification is read, and while queues are closed. */
    private final Object reading = new Object();

    RealCompletionChannel(NativeContext device, long pointer) {
        super(device, pointer, "a completion channel");
        descriptor = IbvCompChannel.FD.get(MemorySegment.ofAddress(pointer).reinterpret(IbvCompChannel.BYTES));
    }

    void add(long queue, CompletionQueue object) {
        synchronized (reading) {
            // Under the lock, because the address may be that of a queue that is being closed.
            queues.put(queue, object);
        }
    }

    /**
     * Destroys a queue of this channel. The library drops its pending notifications. Without the lock, another thread
     * could start to read a dropped one and block until the next.
     */
    int destroy(long queue, IntSupplier verb) {
        synchronized (reading) {
            int result = verb.getAsInt();
            if (result == 0) {
                queues.remove(queue);
            }
            return result;
        }
    }

    @Override
    public Optional<CompletionQueue> await(Duration atMost) {
        return Descriptors.read(descriptor, reading, atMost, this::read);
    }

    private Optional<CompletionQueue> read() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment queue = arena.allocate(JAVA_LONG);
            MemorySegment cookie = arena.allocate(JAVA_LONG);
            Verb.zero(
                    Libibverbs.ibvGetCqEvent(pointer(), queue.address(), cookie.address()),
                    "reading an event of a completion channel");
            long announced = queue.get(JAVA_LONG, 0);
            Libibverbs.ibvAckCqEvents(announced, 1);
            return Optional.ofNullable(queues.get(announced));
        }
    }

    @Override
    int destroy() {
        return Libibverbs.ibvDestroyCompChannel(pointer());
    }
}
