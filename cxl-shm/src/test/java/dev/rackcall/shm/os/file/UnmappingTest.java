package dev.rackcall.shm.os.file;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Unmaps memory while system calls still use it. */
class UnmappingTest {
    /** More than a pipe holds. */
    private static final int BYTES = 1 << 20;

    @Test
    void shouldUnmapUnusedMemoryAtOnce() {
        try (SharedFile file = SharedFile.memfd("test", BYTES)) {
            Mapping mapping = file.map();
            Mapping closed = file.map();
            closed.close();
            CountDownLatch over = new CountDownLatch(1);
            Unmapping.of(List.of(mapping, closed), over::countDown);
            assertThat(over.getCount()).isZero();
            assertUnmapped(mapping.memory());
        }
    }

    @Test
    void shouldUnmapWhatIsBeingWrittenSomewhereWhenThatIsDone() throws Exception {
        Pipe pipe = Pipe.open();
        try (SharedFile file = SharedFile.memfd("test", BYTES);
                Pipe.SinkChannel sink = pipe.sink();
                Pipe.SourceChannel source = pipe.source()) {
            file.reserve(0, BYTES);
            Mapping written = file.map();
            Mapping other = file.map();
            Thread writer = write(sink, written.memory());
            read(source, 1);
            assertThatThrownBy(written::close).isInstanceOf(IllegalStateException.class);
            CountDownLatch over = new CountDownLatch(1);
            Unmapping.of(List.of(written, other), over::countDown);
            assertUnmapped(other.memory());
            assertThat(written.memory().get(JAVA_BYTE, 0)).isZero();
            assertThat(over.getCount()).isOne();
            read(source, BYTES - 1);
            assertThat(over.await(30, TimeUnit.SECONDS)).isTrue();
            assertUnmapped(written.memory());
            writer.join();
        }
    }

    /** The failure of one owner does not affect another. */
    @Test
    void shouldGoOnAfterAnOwnerThatThrows() throws Exception {
        Pipe pipe = Pipe.open();
        try (SharedFile file = SharedFile.memfd("test", BYTES);
                Pipe.SinkChannel sink = pipe.sink();
                Pipe.SourceChannel source = pipe.source()) {
            file.reserve(0, BYTES);
            Mapping mapping = file.map();
            Thread writer = write(sink, mapping.memory());
            read(source, 1);
            CountDownLatch over = new CountDownLatch(1);
            Unmapping.of(List.of(mapping), () -> {
                throw new IllegalArgumentException("expected in this test");
            });
            Unmapping.of(List.of(mapping), over::countDown);
            read(source, BYTES - 1);
            assertThat(over.await(30, TimeUnit.SECONDS)).isTrue();
            writer.join();
        }
    }

    private static Thread write(Pipe.SinkChannel sink, MemorySegment memory) {
        return Thread.ofPlatform().start(() -> {
            try {
                sink.write(memory.asByteBuffer());
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    private static void read(Pipe.SourceChannel source, int bytes) throws IOException {
        ByteBuffer into = ByteBuffer.allocate(bytes);
        while (into.hasRemaining()) {
            source.read(into);
        }
    }

    private static void assertUnmapped(MemorySegment memory) {
        assertThatThrownBy(() -> memory.get(JAVA_BYTE, 0)).isInstanceOf(IllegalStateException.class);
    }
}
