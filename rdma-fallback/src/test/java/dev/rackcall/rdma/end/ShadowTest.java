package dev.rackcall.rdma.end;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ShadowTest {
    private static final int BYTES = 1 << 20;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(BYTES, 64);
    private final MemorySegment copy = arena.allocate(BYTES, 64);
    private final MemorySegment peer = arena.allocate(BYTES, 64);
    private final Shadow shadow = Shadow.of(memory, copy);
    private final List<Long> pieces = new ArrayList<>();

    @AfterEach
    void free() {
        arena.close();
    }

    /** As a carrier does: writes the piece to the peer's memory, from the copy. */
    private void send(long offset, long length) {
        pieces.add(offset);
        pieces.add(length);
        MemorySegment.copy(copy, offset, peer, offset, length);
    }

    private void put(long offset, long value) {
        memory.set(ValueLayout.JAVA_LONG, offset, value);
    }

    @Test
    void shouldSendNothingOfWhatHasNotChanged() {
        put(4096, 7);
        shadow.update(0, BYTES, this::send);
        pieces.clear();

        assertThat(shadow.update(0, BYTES, this::send)).isZero();
        assertThat(pieces).isEmpty();
    }

    @Test
    void shouldSendChangedWordsAndNoOthers() {
        memory.set(ValueLayout.JAVA_BYTE, 3, (byte) 1);
        put(4096, 1);
        put(BYTES - 8, 1);

        assertThat(shadow.update(0, BYTES, this::send)).isEqualTo(24);
        assertThat(pieces).containsExactly(0L, 8L, 4096L, 8L, BYTES - 8L, 8L);
    }

    @Test
    void shouldJoinWhatLiesCloseTogether() {
        put(0, 1);
        put(Shadow.JOINED_BYTES, 1);
        put(2 * Shadow.JOINED_BYTES + 16, 1);

        shadow.update(0, BYTES, this::send);

        assertThat(pieces).containsExactly(0L, Shadow.JOINED_BYTES + 8L, 2L * Shadow.JOINED_BYTES + 16, 8L);
    }

    @Test
    void shouldLookOnlyWhereItWasTold() {
        put(56, 1);
        put(64, 2);
        put(128, 3);

        // Up to byte 125, which lies in the word at 120.
        shadow.update(64, 61, this::send);

        assertThat(pieces).containsExactly(64L, 8L);
        assertThat(peer.get(ValueLayout.JAVA_LONG, 128)).isZero();
    }

    @Test
    void shouldMoveAtMostOneTwentiethIfOneHundredthChanged() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        random.longs(BYTES / 8).forEach(new Filler()::put);
        assertThat(shadow.update(0, BYTES, this::send)).isEqualTo(BYTES);
        for (int i = 0; i < BYTES / 8 / 100; i++) {
            put(8L * random.nextInt(BYTES / 8), random.nextLong());
        }

        assertThat(shadow.update(0, BYTES, this::send)).as("seed %d", seed).isBetween(BYTES / 200L, BYTES / 20L);
        assertThat(memory.mismatch(peer)).as("seed %d", seed).isEqualTo(-1);
    }

    @Test
    void shouldLeaveThePeerWithTheSameWhateverChanges() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            for (int i = random.nextInt(100); i >= 0; i--) {
                int length = 1 + random.nextInt(500);
                int offset = random.nextInt(BYTES - length);
                memory.asSlice(offset, length).fill((byte) random.nextInt(3));
            }
            shadow.update(0, BYTES, this::send);

            assertThat(memory.mismatch(peer))
                    .as("seed %d, round %d", seed, round)
                    .isEqualTo(-1);
        }
    }

    @Test
    void shouldRefuseWhatIsNotInsideTheMemory() {
        assertThrown(IndexOutOfBoundsException.class, () -> shadow.update(BYTES - 8, 16, this::send));
        assertThrown(IllegalArgumentException.class, () -> shadow.update(4, 8, this::send), "4");
        assertThrown(IllegalArgumentException.class, () -> Shadow.of(memory, copy.asSlice(64)), "same length");
    }

    /** Fills the memory word by word. */
    private final class Filler {
        private long at;

        void put(long value) {
            ShadowTest.this.put(at, value);
            at += 8;
        }
    }
}
