package dev.rackcall.perf.peers;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.Payload;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.Subject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;

/**
 * Copies an array into memory outside the heap and from there into another array, in one thread: the copies of one
 * direction of a call by value.
 *
 * @param bytes copied each time
 */
public record TwoCopies(int bytes) implements Sides {
    private static final String NAME = "two-copies-";
    private static final long PAGE = 4096;

    public static Subject subject(int bytes) {
        return Subject.of(
                NAME + bytes,
                bytes,
                "from a byte[] into memory outside the heap and from there into another byte[], in one thread, warm buffers",
                new TwoCopies(bytes),
                Subject.Trait.SPINS,
                Subject.Trait.ONE_PROCESS);
    }

    @Override
    public ServerSide serve(Path directory) {
        return () -> {};
    }

    @Override
    public ClientSide connect(Path directory) {
        byte[] payload = Payload.of(bytes);
        byte[] reply = new byte[bytes];
        MemorySegment memory = Arena.global().allocate(bytes, PAGE);
        return ClientSide.of(
                sequence -> {
                    Payload.mark(payload, sequence);
                    MemorySegment.copy(payload, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes);
                    MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, 0, reply, 0, bytes);
                    Payload.check(NAME + bytes, reply, bytes, sequence);
                },
                () -> {});
    }
}
