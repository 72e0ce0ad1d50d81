package dev.rackcall.rpc.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.shm.os.SharedFile;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which answers a server carries over: each that was published, once, wherever it lies among thousands of slots. */
class ServerMirrorTest {
    private static final int SLOTS = 4096;
    private static final long QUOTA = 64 << 10;

    private final List<Integer> published = new ArrayList<>();
    private SharedFile file;
    private ServerMirror mirror;

    /** Takes note of the slots whose words are published. */
    private final class Noting implements Carrier {
        @Override
        public void start(Arrivals arrivals) {}

        @Override
        public long clockAhead() {
            return 0;
        }

        @Override
        public boolean carry(long offset, long length) {
            return true;
        }

        @Override
        public boolean carryChanged(long offset, long length) {
            return true;
        }

        @Override
        public boolean store(long offset, long value) {
            return true;
        }

        @Override
        public boolean publish(long offset, long value) {
            for (int i = 0; i < SLOTS; i++) {
                if (ControlLayout.slot(i) + SlotLayout.RESPONSE_WORD == offset) {
                    published.add(i);
                }
            }
            return true;
        }

        @Override
        public boolean proclaim(long offset, long value) {
            return true;
        }

        @Override
        public boolean flush() {
            return true;
        }

        @Override
        public boolean tell(long number) {
            return true;
        }

        @Override
        public void look() {}

        @Override
        public void listen() {}

        @Override
        public void fetchInto(SharedFile area) {}

        @Override
        public boolean fetch(long offset, long areaOffset, long length, long deadline) {
            return true;
        }

        @Override
        public void close() {}
    }

    @BeforeEach
    void open() {
        ConnectionPlan plan = ConnectionPlan.of(SLOTS, QUOTA, ControlLayout.PAGE);
        Handshake.Welcome welcome = new Handshake.Welcome(
                Status.OK,
                1,
                SLOTS,
                2,
                new Handshake.ArenaPlace(1, plan.requestAt(), QUOTA),
                new Handshake.ArenaPlace(2, plan.replyAt(), QUOTA),
                new Handshake.ArenaPlace(3, 0, QUOTA),
                0,
                "",
                "");
        file = SharedFile.memfd("rackcall-test", ConnectionFactory.bytes(welcome));
        file.reserve(0, file.bytes());
        mirror = new ServerMirror(new Noting(), file.map(), welcome);
        ControlLayout.initialise(mirror.memory(), SLOTS, 1);
    }

    @AfterEach
    void close() {
        mirror.close();
        file.close();
    }

    private void answer(int index) {
        SlotLayout.publishResponse(mirror.memory(), ControlLayout.slot(index), SlotLayout.word(index, 0, 0, 0));
        mirror.answered(index);
    }

    @Test
    void shouldCarryEachAnswerOnce() {
        for (int index : new int[] {0, 63, 64, 1000, SLOTS - 1}) {
            answer(index);
        }
        assertThat(mirror.ring()).isTrue();
        assertThat(published).containsExactly(0, 63, 64, 1000, SLOTS - 1);
        mirror.ring();
        assertThat(published).hasSize(5);
        answer(63);
        mirror.ring();
        assertThat(published).endsWith(63).hasSize(6);
    }

    @Test
    void shouldLookOnlyAtSlotsThatWereAnswered() {
        SlotLayout.publishResponse(mirror.memory(), ControlLayout.slot(5), SlotLayout.word(5, 0, 0, 0));
        answer(7);
        mirror.ring();
        assertThat(published).containsExactly(7);
    }
}
