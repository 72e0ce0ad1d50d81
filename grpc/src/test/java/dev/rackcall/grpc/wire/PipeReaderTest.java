package dev.rackcall.grpc.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.grpc.wire.PipeLayout.Side;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames of messages that are taken together. */
class PipeReaderTest {
    private final MemorySegment memory = Arena.ofAuto().allocate(PipeLayout.FILE_BYTES, Long.BYTES);
    private final PipeWriter writer = new PipeWriter(memory, Side.CLIENT);
    private final PipeReader reader = new PipeReader(memory, Side.CLIENT);

    private void write(int kind, int flags, int stream, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        assertThat(writer.hasRoom(bytes.length)).isTrue();
        writer.write(kind, flags, stream, 0, bytes, 0, bytes.length);
    }

    private String run() {
        assertThat(reader.next()).isTrue();
        return new String(reader.takeRun(), StandardCharsets.US_ASCII);
    }

    @Test
    void shouldTakeMessagesOfAStreamTogetherUpToItsEnd() {
        write(Frame.DATA, 0, 1, "ab");
        write(Frame.DATA, 0, 1, "");
        write(Frame.DATA, Frame.END, 1, "c");
        write(Frame.DATA, 0, 1, "d");
        write(Frame.DATA, 0, 2, "e");
        write(Frame.TRAILERS, 0, 2, "f");
        writer.publish();
        assertThat(run()).isEqualTo("abc");
        assertThat(reader.flags()).isEqualTo(Frame.END);
        assertThat(run()).isEqualTo("d");
        assertThat(reader.flags()).isZero();
        assertThat(run()).isEqualTo("e");
        assertThat(reader.stream()).isEqualTo(2);
        assertThat(reader.next()).isTrue();
        assertThat(reader.kind()).isEqualTo(Frame.TRAILERS);
        assertThat(reader.take()).containsExactly('f');
        assertThat(reader.next()).isFalse();
    }

    @Test
    void shouldTakeAllMessagesOnceWhereverThePipeWraps() {
        StringBuilder sent = new StringBuilder();
        StringBuilder received = new StringBuilder();
        int longest = 0;
        int count = 0;
        while (received.length() < 4 * PipeLayout.PIPE_BYTES) {
            for (int length = count % 700; writer.hasRoom(length); length = ++count % 700) {
                String text = Character.toString('a' + count % 26).repeat(length);
                write(Frame.DATA, 0, 1, text);
                sent.append(text);
            }
            writer.publish();
            String some = run();
            longest = Math.max(longest, some.length());
            received.append(some);
            reader.release(true);
        }
        while (reader.next()) {
            received.append(new String(reader.takeRun(), StandardCharsets.US_ASCII));
        }
        assertThat(received.toString()).isEqualTo(sent.toString());
        assertThat(longest).isGreaterThan(PipeLayout.MAX_PAYLOAD).isLessThanOrEqualTo(2 * PipeLayout.MAX_PAYLOAD);
    }

    @Test
    void shouldTakeManyEmptyMessagesInSeveralRuns() {
        int frames = 600;
        for (int i = 0; i < frames; i++) {
            write(Frame.DATA, 0, 1, "");
        }
        writer.publish();
        int runs = 0;
        while (reader.next()) {
            assertThat(reader.takeRun()).isEmpty();
            runs++;
        }
        assertThat(runs).isBetween(2, frames / 2);
    }

    /** Lengths that are negative, longer than a frame's, and longer than what was written. */
    @ParameterizedTest
    @ValueSource(ints = {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, PipeLayout.MAX_PAYLOAD + 1, 200})
    void shouldTakeWhatPrecedesABrokenFrame(int length) {
        write(Frame.DATA, 0, 1, "ab");
        long broken = PipeLayout.pipe(Side.CLIENT) + Frame.bytes(2);
        write(Frame.DATA, 0, 1, "cd");
        memory.set(ValueLayout.JAVA_INT, broken, length);
        writer.publish();
        assertThat(run()).isEqualTo("ab");
        assertThatThrownBy(reader::next).isInstanceOf(FrameBreachException.class);
    }
}
