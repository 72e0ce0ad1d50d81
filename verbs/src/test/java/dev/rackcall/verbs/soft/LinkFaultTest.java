package dev.rackcall.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A fault that nobody has caught where memory was touched costs the connection, and not the thread that moves it. */
class LinkFaultTest {
    private static final int FRAME_BYTES = 64;

    private final SoftContext context =
            (SoftContext) SoftDevice.of("test", SoftOptions.local()).open();
    private final AtomicInteger faults = new AtomicInteger();
    private final AtomicInteger ends = new AtomicInteger();
    private final Link link = new Link(context) {
        @Override
        void greet() {}

        @Override
        void greeted(MemorySegment greeting, long at) {}

        @Override
        void frame(MemorySegment memory, long at, int length) {
            throw fault();
        }

        @Override
        int smallestFrame() {
            return FRAME_BYTES;
        }

        @Override
        boolean isCongested() {
            return false;
        }

        @Override
        void fill(Outbox out) {
            throw fault();
        }

        @Override
        void afterFrames() {}

        @Override
        void over() {
            ends.incrementAndGet();
        }
    };

    private InternalError fault() {
        faults.incrementAndGet();
        return new InternalError("a fault occurred in an unsafe memory access operation");
    }

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void shouldEndTheConnectionWhoseFrameFindsNoMemory() {
        link.incoming().open();
        ByteBuffer bytes = ByteBuffer.allocateDirect(FrameLayout.GREETING_BYTES + FRAME_BYTES)
                .order(ByteOrder.nativeOrder());
        bytes.putInt(FrameLayout.GREETING_BYTES, FRAME_BYTES);
        link.incoming().received(Unpooled.wrappedBuffer(bytes));
        link.incoming().discard();
        assertThat(faults).hasValue(1);
        assertThat(ends).hasValue(1);
    }

    @Test
    void shouldEndTheConnectionWhoseAnswerFindsNoMemory() {
        link.becomeSendable();
        assertThat(faults).hasValue(1);
        assertThat(ends).hasValue(1);
    }
}
