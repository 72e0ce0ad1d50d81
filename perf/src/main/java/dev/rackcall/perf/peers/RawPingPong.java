package dev.rackcall.perf.peers;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.NoReplyException;
import dev.rackcall.perf.harness.Payload;
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
 * and one acquire load each way, both sides spin. No call through this memory can be faster. With a value, each side
 * also copies it from an array of its own into the memory, and out of the memory into another one.
 *
 * @param value bytes of the value that travels with the number; 0 if there is none
 */
public record RawPingPong(int value) implements Sides {
    private static final String NAME = "raw-pingpong";
    /** Two lines apart, because processors fetch lines in pairs. */
    private static final long REQUEST = 0;

    private static final long RESPONSE = 128;
    private static final long PAGE = 4096;
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
                new RawPingPong(0),
                Subject.Trait.SPINS);
    }

    /** With a value of that many bytes there and back. */
    public static Subject subject(int value) {
        return Subject.of(
                NAME + "-" + value,
                value,
                "raw-pingpong, and each side copies the value from its array into the memory and from there into another array",
                new RawPingPong(value),
                Subject.Trait.SPINS);
    }

    @Override
    public ServerSide serve(Path directory) throws IOException {
        return new Echo(map(directory), value);
    }

    @Override
    public ClientSide connect(Path directory) throws IOException {
        return new Client(map(directory), value);
    }

    private MemorySegment map(Path directory) throws IOException {
        long bytes = PAGE + 2L * value;
        Path file = directory.resolve("ping-pong");
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            if (Files.size(file) < bytes) {
                channel.write(ByteBuffer.allocate((int) bytes), 0);
            }
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, Arena.global());
        }
    }

    private static final class Echo implements ServerSide {
        private final MemorySegment memory;
        private final byte[] value;
        private final Semaphore resumed = new Semaphore(0);

        Echo(MemorySegment memory, int value) {
            this.memory = memory;
            this.value = new byte[value];
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
                    copyOut(memory, PAGE, value);
                    copyIn(value, memory, PAGE + value.length);
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

    private static void copyIn(byte[] value, MemorySegment memory, long offset) {
        if (value.length > 0) {
            MemorySegment.copy(value, 0, memory, ValueLayout.JAVA_BYTE, offset, value.length);
        }
    }

    private static void copyOut(MemorySegment memory, long offset, byte[] value) {
        if (value.length > 0) {
            MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, offset, value, 0, value.length);
        }
    }

    /** Sends one array and receives into another; both are empty if no value travels. */
    private static final class Client implements ClientSide {
        private final MemorySegment memory;
        private final byte[] value;
        private final byte[] reply;

        Client(MemorySegment memory, int value) {
            this.memory = memory;
            this.value = value == 0 ? new byte[0] : Payload.of(value);
            this.reply = new byte[value];
        }

        @Override
        public void call(long sequence) {
            if (value.length > 0) {
                Payload.mark(value, sequence);
                copyIn(value, memory, PAGE);
            }
            exchange(sequence);
            if (value.length > 0) {
                copyOut(memory, PAGE + value.length, reply);
                Payload.check(NAME, reply, value.length, sequence);
            }
        }

        private void exchange(long sequence) {
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
