package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ServerCall.ResultWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The open server streams of one connection. Thread-safe. */
final class ServerStreams {
    /** More open streams are refused. */
    private static final int MAX_OPEN = 256;

    private final Map<Long, ServerStream<?>> open = new HashMap<>();
    private final LongSupplier nanoTime;
    private long lastId;
    private boolean closed;

    ServerStreams() {
        this(System::nanoTime);
    }

    ServerStreams(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    LongSupplier nanoTime() {
        return nanoTime;
    }

    /** @param opener the call that returned it */
    <T> ServerStream<T> open(
            ServerStream.Opener opener, Stream<T> elements, ResultWriter<T> writer, Supplier<CallMemory> memory) {
        ServerStream<T> stream = tryOpen(opener, elements, writer, memory);
        if (stream == null) {
            endForsaken();
            stream = tryOpen(opener, elements, writer, memory);
        }
        if (stream == null) {
            // Runs users' code, so without the lock.
            elements.close();
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "%s: %d streams are open on this connection; read them to their end or close them",
                            opener.method(), MAX_OPEN)
                    .asException();
        }
        return stream;
    }

    private synchronized <T> ServerStream<T> tryOpen(
            ServerStream.Opener opener, Stream<T> elements, ResultWriter<T> writer, Supplier<CallMemory> memory) {
        if (closed || open.size() >= MAX_OPEN) {
            return null;
        }
        long id = ++lastId;
        ServerStream<T> stream = new ServerStream<>(this, id, opener, memory.get(), elements, writer);
        open.put(id, stream);
        return stream;
    }

    /** Ends streams that their readers left without closing them, for example after the first element. */
    private void endForsaken() {
        all().stream().filter(ServerStream::isForsaken).forEach(ServerStream::cancel);
    }

    /** Whether a stream is open that its reader has not left. */
    boolean areRead() {
        return all().stream().anyMatch(each -> !each.isForsaken());
    }

    /** A copy, to be used without the monitor, which a stream takes while it holds its own lock. */
    private synchronized List<ServerStream<?>> all() {
        return List.copyOf(open.values());
    }

    /** The stream with that id, which came from a peer; null if there is none. */
    synchronized ServerStream<?> find(long id) {
        return open.get(id);
    }

    synchronized void forget(long id) {
        open.remove(id);
    }

    void close(long id) {
        ServerStream<?> stream = find(id);
        if (stream != null) {
            stream.cancel();
        }
    }

    /**
     * Closes the stream that the call with {@code ticket} opened, if any. Its caller no longer waits and never received
     * the stream's id.
     */
    void closeOpenedBy(long ticket) {
        Optional<ServerStream<?>> stream;
        synchronized (this) {
            stream = open.values().stream()
                    .filter(each -> each.isOpenedBy(ticket))
                    .findFirst();
        }
        stream.ifPresent(ServerStream::cancel);
    }

    void closeAll() {
        List<ServerStream<?>> all;
        synchronized (this) {
            closed = true;
            all = new ArrayList<>(open.values());
        }
        all.forEach(ServerStream::cancel);
    }
}
