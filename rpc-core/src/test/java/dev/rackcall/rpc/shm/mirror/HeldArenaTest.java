package dev.rackcall.rpc.shm.mirror;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import dev.rackcall.testkit.Usage;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a client holds of an arena that others write, and what becomes of it when they leave. */
class HeldArenaTest {
    private static final int ID = 77;
    private static final long BYTES = 1 << 20;
    private static final long OBJECT = 8192;
    private static final int LENGTH = 24;

    private final AtomicLong epochs = new AtomicLong(1);
    private final HeldArena held = new HeldArena(ID, this::answer, epochs);

    private long arenaBytes = BYTES;
    private int asked;
    private Runnable meanwhile = () -> {};

    @AfterEach
    void close() {
        held.close();
    }

    /** An object of one generation, at the beginning of its page, whose first field says how often was asked. */
    private HeldArena.Answer answer(long ref, int bytes) {
        assertThat(Ref.offset(ref)).isEqualTo(OBJECT);
        assertThat(bytes).isBetween(LENGTH, 64 << 10);
        asked++;
        meanwhile.run();
        MemorySegment page = MemorySegment.ofArray(new long[LENGTH / Long.BYTES]);
        page.set(ValueLayout.JAVA_INT_UNALIGNED, 4, LENGTH);
        page.set(ValueLayout.JAVA_LONG_UNALIGNED, 8, asked);
        return new HeldArena.Answer(arenaBytes, page);
    }

    private RefSpace.Window window() {
        return held.window(Ref.of(ID, 1, OBJECT), 0);
    }

    private MemorySegment memory() {
        return window().memory();
    }

    private static long value(MemorySegment memory) {
        return memory.get(ValueLayout.JAVA_LONG, OBJECT + 8);
    }

    private static long descriptors() {
        return Usage.descriptors("rackcall-held");
    }

    @Test
    void shouldAskOnceUntilItIsStale() {
        assertThat(value(memory())).isEqualTo(1);
        assertThat(value(memory())).isEqualTo(1);
        held.isStale();
        assertThat(value(memory())).isEqualTo(2);
        assertThat(asked).isEqualTo(2);
    }

    @Test
    void shouldKeepWhatIsThereWithoutADescriptorWhenItsWriterHasLeft() throws IOException {
        long before = descriptors();
        MemorySegment memory = memory();
        assertThat(descriptors()).isEqualTo(before + 1);
        held.isStale();
        held.writerHasLeft();
        assertThat(descriptors()).isEqualTo(before);
        assertThat(value(memory)).isEqualTo(1);
        assertThat(held.isIn(memory.scope())).isTrue();
        // Its writer is not asked: another node may have its number by now.
        assertThat(window()).isNull();
        assertThat(asked).isEqualTo(1);
        assertThat(held.unmap()).isTrue();
        assertThatThrownBy(() -> value(memory)).isInstanceOf(IllegalStateException.class);
    }

    /** A user may have passed a part of it to the kernel, which keeps it mapped. */
    @Test
    void shouldKeepMemoryThatIsBeingWrittenSomewhere() throws IOException, InterruptedException {
        MemorySegment memory = memory();
        held.writerHasLeft();
        whileItIsWritten(memory, () -> assertThat(held.unmap()).isFalse());
        assertThat(held.unmap()).isTrue();
        assertThatThrownBy(() -> value(memory)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldEndWhileItsMemoryIsBeingWrittenSomewhere() throws IOException, InterruptedException {
        MemorySegment memory = memory();
        whileItIsWritten(memory, held::close);
        Await.until("it is unmapped", () -> !memory.scope().isAlive());
    }

    private static void whileItIsWritten(MemorySegment memory, Runnable action)
            throws IOException, InterruptedException {
        Pipe pipe = Pipe.open();
        try (Pipe.SinkChannel sink = pipe.sink();
                Pipe.SourceChannel source = pipe.source()) {
            CompletableFuture<Integer> writer = Concurrently.start(() -> sink.write(memory.asByteBuffer()));
            read(source, 1);
            // More than a pipe holds: it goes on.
            action.run();
            assertThat(value(memory)).isEqualTo(1);
            read(source, (int) BYTES - 1);
            assertThat(Concurrently.get(writer)).isEqualTo((int) BYTES);
        }
    }

    private static void read(Pipe.SourceChannel source, int bytes) throws IOException {
        ByteBuffer into = ByteBuffer.allocate(bytes);
        while (into.hasRemaining()) {
            source.read(into);
        }
    }

    @Test
    void shouldTakeNothingOfAnArenaOfAnotherLength() {
        MemorySegment memory = memory();
        held.isStale();
        arenaBytes = 2 * BYTES;
        assertThat(window()).isNull();
        assertThat(value(memory)).isEqualTo(1);
    }

    @Test
    void shouldBelieveNoLengthThatIsNone() {
        arenaBytes = BYTES + 1;
        assertThatThrownBy(this::window).isInstanceOf(RpcException.class).hasMessageContaining("same release");
        arenaBytes = OBJECT;
        assertThatThrownBy(this::window).isInstanceOf(RpcException.class).hasMessageContaining("same release");
    }

    /** The asking thread may hear of it itself, or another thread may. */
    @Test
    void shouldGiveUpWhatIsAskedForWhenItsWriterLeaves() throws IOException, InterruptedException {
        long before = descriptors();
        MemorySegment memory = memory();
        held.isStale();
        // The other thread does not wait for this one, which asks.
        meanwhile = () -> Concurrently.run(1, thread -> held.writerHasLeft());
        assertThat(window()).isNull();
        assertThat(descriptors()).isEqualTo(before);
        assertThat(value(memory)).isEqualTo(1);
    }

    @Test
    void shouldGiveUpWhatIsAskedForWhenItHearsOfThatByAsking() {
        MemorySegment memory = memory();
        held.isStale();
        meanwhile = () -> {
            held.writerHasLeft();
            held.unmap();
        };
        assertThat(window()).isNull();
        assertThatThrownBy(() -> value(memory)).isInstanceOf(IllegalStateException.class);
    }
}
