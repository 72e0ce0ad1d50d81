package dev.rackcall.verbs.soft.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A memory fault that is not caught where memory is accessed ends the link, but not the thread that sends or reads. */
class LinkFaultTest {
    private static final int FRAME_BYTES = 64;

    private final Network network = new Network("test", Optional.empty(), Optional.empty());
    private final AtomicInteger faults = new AtomicInteger();
    private final AtomicInteger ends = new AtomicInteger();
    private final Link link = new Link(new Links(network.eventLoop())) {
        @Override
        protected void established() {}

        @Override
        protected void hello(MemorySegment hello, long at) {
            incoming().open();
        }

        @Override
        protected void frame(MemorySegment memory, long at, int length) {
            throw fault();
        }

        @Override
        protected int smallestFrame() {
            return FRAME_BYTES;
        }

        @Override
        protected boolean isCongested() {
            return false;
        }

        @Override
        protected void fill(SendBuffer out) {
            throw fault();
        }

        @Override
        protected void over() {
            ends.incrementAndGet();
        }
    };

    private InternalError fault() {
        faults.incrementAndGet();
        return new InternalError("a fault occurred in an unsafe memory access operation");
    }

    @AfterEach
    void close() {
        network.close();
    }

    @Test
    void shouldEndALinkWhoseFrameFindsNoMemory() {
        ByteBuffer bytes =
                ByteBuffer.allocateDirect(FrameLayout.HELLO_BYTES + FRAME_BYTES).order(ByteOrder.nativeOrder());
        bytes.putInt(FrameLayout.HELLO_BYTES, FRAME_BYTES);
        link.incoming().begin();
        link.incoming().received(Unpooled.wrappedBuffer(bytes));
        link.incoming().discard();
        assertThat(faults).hasValue(1);
        assertThat(ends).hasValue(1);
    }

    @Test
    void shouldEndALinkWhoseAnswerFindsNoMemory() {
        link.becomeSendable();
        assertThat(faults).hasValue(1);
        assertThat(ends).hasValue(1);
    }
}
