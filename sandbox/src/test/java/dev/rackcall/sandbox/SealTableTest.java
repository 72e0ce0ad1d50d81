package dev.rackcall.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.sandbox.os.PageProtector;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.os.OsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The sealing side with any request; its pages are only counted. */
class SealTableTest {
    private static final long PAGE = 4096;
    private static final int PAGES = 300;
    private static final long ADDRESS = 1L << 40;
    private static final int ARENA = 5;
    private static final int DESCRIPTORS = 32;

    private final MemorySegment ring = Arena.ofAuto().allocate(Seals.ringBytes(DESCRIPTORS), 8);
    private final MemorySegment marks = Arena.ofAuto().allocate(Seals.marksBytes(DESCRIPTORS), 8);
    private final Pages pages = new Pages();
    private final SealTable table =
            new SealTable(ring, marks, pages, new SealedArea(ARENA, ADDRESS, PAGES * PAGE, PAGE));

    private static final class Pages implements PageProtector {
        private final BitSet closed = new BitSet();

        private boolean refuses;

        @Override
        public void protect(long address, long bytes) {
            if (refuses && bytes > PAGE) {
                closed.set(page(address));
                throw new OsException("protecting", 12);
            }
            closed.set(page(address), page(address + bytes));
        }

        @Override
        public void unprotect(long address, long bytes) {
            closed.clear(page(address), page(address + bytes));
        }

        private static int page(long address) {
            assertThat(address).isBetween(ADDRESS, ADDRESS + PAGES * PAGE);
            assertThat(address % PAGE).isZero();
            return (int) ((address - ADDRESS) / PAGE);
        }

        @Override
        public void close() {
            closed.clear();
        }
    }

    private static long random(Random random, long typical) {
        return switch (random.nextInt(8)) {
            case 0 -> random.nextLong();
            case 1 -> Long.MAX_VALUE - random.nextInt(5000);
            case 2 -> -random.nextInt(5000);
            default -> typical;
        };
    }

    /** Exactly the pages of seals in force are closed, and every refusal changes nothing. */
    @Test
    void shouldKeepExactlyTheSealedPagesClosed() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Long> held = new ArrayList<>();
        List<BitSet> theirs = new ArrayList<>();
        for (int round = 0; round < 20_000; round++) {
            if (random.nextInt(3) > 0) {
                int count = random.nextInt(4);
                long[] refs = new long[4];
                long[] bytes = new long[4];
                BitSet wanted = new BitSet();
                for (int i = 0; i < count; i++) {
                    int page = random.nextInt(PAGES);
                    int length = 1 + random.nextInt(8);
                    refs[i] = random(random, Ref.of(random.nextInt(20) == 0 ? 6 : ARENA, 3, page * PAGE));
                    bytes[i] = random(random, length * PAGE - random.nextInt(100));
                    wanted.set(page, page + length);
                }
                try {
                    held.add(table.seal(refs, bytes, count));
                    theirs.add(wanted);
                } catch (SealException e) {
                    assertThat(e.getMessage()).isNotEmpty();
                }
            } else {
                release(random, held, theirs);
            }
            BitSet expected = new BitSet();
            theirs.forEach(expected::or);
            assertThat(pages.closed).as("seed %d, round %d", seed, round).isEqualTo(expected);
        }
    }

    private void release(Random random, List<Long> held, List<BitSet> theirs) {
        int count = Math.min(held.size(), random.nextInt(6));
        long[] seals = new long[count];
        for (int i = 0; i < count; i++) {
            int which = random.nextInt(held.size());
            seals[i] = held.remove(which);
            theirs.remove(which);
            assertThat(table.isHeld(seals[i])).isTrue();
        }
        int calls = table.release(seals, count, SealRingLayout.FREE);
        assertThat(calls).isLessThanOrEqualTo(3 * count);
        for (long seal : seals) {
            assertThat(table.isHeld(seal)).isFalse();
        }
    }

    @Test
    void shouldOpenWhatTheKernelHasClosedBeforeItRefused() {
        pages.refuses = true;
        long[] refs = {Ref.of(ARENA, 3, 0), Ref.of(ARENA, 3, 10 * PAGE)};

        assertThatThrownBy(() -> table.seal(refs, new long[] {PAGE, 5 * PAGE}, 2))
                .isInstanceOf(SealException.class);

        assertThat(pages.closed.isEmpty()).isTrue();
    }

    @Test
    void shouldKnowPagesByTheirBits() {
        SealedPages bits = new SealedPages(200_000);
        long seed = System.nanoTime();
        Random random = new Random(seed);
        BitSet expected = new BitSet();
        for (int round = 0; round < 2_000; round++) {
            int from = random.nextInt(199_000);
            int to = from + random.nextInt(1000);
            switch (random.nextInt(3)) {
                case 0 -> {
                    bits.set(from, to);
                    expected.set(from, to);
                }
                case 1 -> {
                    bits.clear(from, to);
                    expected.clear(from, to);
                }
                default ->
                    assertThat(bits.anyIn(from, to))
                            .as("seed %d", seed)
                            .isEqualTo(!expected.get(from, to).isEmpty());
            }
        }
    }
}
