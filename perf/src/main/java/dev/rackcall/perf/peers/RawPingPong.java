package dev.rackcall.perf.peers;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.NoReplyException;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.Subject;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Semaphore;

/**
 * The floor: two processes hand one number back and forth through two cache lines of shared memory. One release store
 * and one acquire load each way, both sides spin. No call through this memory can be faster.
 */
public record RawPingPong() implements Sides {
    private static final String NAME = "raw-pingpong";
    /** Two lines apart, because processors fetch lines in pairs. */
    private static final long REQUEST = 0;

    private static final long RESPONSE = 128;
    private static final long BYTES = 4096;
    private static final long STOP = -1;
    private static final long PAUSE = -2;
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    /** This many spins pass before a call reads the clock. */
    private static final int SPINS = 1 << 22;

    public static Subject subject() {
        return Subject.of(
                NAME,
                Long.BYTES,
                "two cache lines 128 bytes apart in a mapped file on tmpfs, release store and acquire load, both sides spin",
                new RawPingPong(),
                Subject.Trait.SPINS);
    }

    @Override
    public ServerSide serve(Path directory) throws IOException {
        return new Echo(map(directory));
    }

    @Override
    public ClientSide connect(Path directory) throws IOException {
        return new Client(map(directory));
    }

    private static MemorySegment map(Path directory) throws IOException {
        Path file = directory.resolve("ping-pong");
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            if (Files.size(file) < BYTES) {
                channel.write(ByteBuffer.allocate((int) BYTES), 0);
            }
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, Arena.global());
        }
    }

    private static final class Echo implements ServerSide {
        private final MemorySegment memory;
        private final Semaphore resumed = new Semaphore(0);

        Echo(MemorySegment memory) {
            this.memory = memory;
            Thread.ofPlatform().daemon().name(NAME).start(this::run);
        }

        private void run() {
            long last = 0;
            while (last != STOP) {
                // Pairs with the release stores in Client.call(), pause() and close().
                long request = (long) WORD.getAcquire(memory, REQUEST);
                if (request == PAUSE) {
                    resumed.acquireUninterruptibly();
                    // Fails if there is a new request or the order to stop already; the next turn sees that.
                    WORD.compareAndSet(memory, REQUEST, PAUSE, last);
                } else if (request != last) {
                    last = request;
                    // Pairs with the acquire load in Client.call().
                    WORD.setRelease(memory, RESPONSE, request);
                }
            }
        }

        @Override
        public void pause() {
            WORD.setRelease(memory, REQUEST, PAUSE);
        }

        @Override
        public void resume() {
            resumed.release();
        }

        @Override
        public void close() {
            WORD.setRelease(memory, REQUEST, STOP);
            resumed.release();
        }
    }

    private record Client(MemorySegment memory) implements ClientSide {
        @Override
        public void call(long sequence) {
            // 0 is what fresh memory holds and negative numbers are orders, so the sequence is moved past them.
            long request = sequence + 1;
            // Pairs with the acquire load in Echo.run().
            WORD.setRelease(memory, REQUEST, request);
            for (int spins = 0; spins < SPINS; spins++) {
                // Pairs with the release store in Echo.run().
                if ((long) WORD.getAcquire(memory, RESPONSE) == request) {
                    return;
                }
            }
            awaitSlowly(request);
        }

        private void awaitSlowly(long request) {
            long since = System.nanoTime();
            long response;
            do {
                response = (long) WORD.getAcquire(memory, RESPONSE);
                if (response == request) {
                    return;
                }
                Thread.yield();
            } while (System.nanoTime() - since < CALL_BOUND_NANOS);
            throw new NoReplyException(
                    NAME, CALL_BOUND_NANOS, request, response, "the server side hangs, or has ended");
        }

        @Override
        public void close() {
            // The mapping ends with the process.
        }
    }
}
