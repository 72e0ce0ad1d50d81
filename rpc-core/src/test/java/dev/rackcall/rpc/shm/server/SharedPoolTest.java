package dev.rackcall.rpc.shm.server;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which client has a number in a channel's shared arena, and until when. */
class SharedPoolTest {
    private static final int ARENA = 9;

    private final SharedPool pool = new SharedPool("/test/pool", ARENA, 1 << 20);

    @AfterEach
    void close() {
        pool.close();
    }

    private static Arena attach(Mapping mapping, SharedPool.Seat seat) {
        return Arena.attach(new ArenaSpec(ARENA, mapping.memory(), seat.file(), 0, TableHome.SHARED, seat.number(), 0));
    }

    @Test
    void shouldKeepNumberAndMemoryOfAClientThatItHungUpOnAsLongAsItLives() {
        SharedPool.Seat seat = pool.join();
        Mapping mapping = seat.file().map();
        Arena client = attach(mapping, seat);
        Scope scope = client.newScope();
        scope.allocate(50_000);
        long used = pool.arena().usedBytes();

        pool.leave(seat.number());
        pool.reclaim();
        assertThat(pool.arena().usedBytes()).isEqualTo(used);
        try (SharedPool.Seat next = pool.join()) {
            assertThat(next.number()).isNotEqualTo(seat.number());
            pool.leave(next.number());
        }
        // It still allocates, and disturbs no other client.
        try (Scope server = pool.arena().newScope(100_000)) {
            scope.allocate(100_000);
            assertThat(pool.arena().usedBytes()).isGreaterThanOrEqualTo(server.bytesHeld() + scope.bytesHeld());
        }

        seat.close();
        pool.reclaim();
        assertThat(pool.arena().usedBytes())
                .as("its mapping is there without its descriptor")
                .isGreaterThanOrEqualTo(scope.bytesHeld());
        mapping.close();
        pool.reclaim();
        assertThat(pool.arena().usedBytes()).isZero();
        try (SharedPool.Seat again = pool.join()) {
            assertThat(again.number()).isEqualTo(seat.number());
        }
    }

    /** Any client can overwrite it; later ones could not join, as long as the server lives. */
    @Test
    void shouldMendTheHeaderThatAClientHasOverwritten() {
        try (SharedPool.Seat hostile = pool.join();
                Mapping mapping = hostile.file().map()) {
            for (byte value : new byte[] {0, 1, -1}) {
                mapping.memory().asSlice(0, 32).fill(value);
                try (SharedPool.Seat honest = pool.join();
                        Mapping mine = honest.file().map()) {
                    Scope scope = attach(mine, honest).newScope(10_000);
                    scope.allocate(5_000);
                    scope.close();
                    pool.leave(honest.number());
                }
                assertThat(pool.arena().mendHeader()).as("mended again").isFalse();
            }
        }
    }

    @Test
    void shouldFreeWhatALeavingClientHadAtOnceIfItIsGone() {
        SharedPool.Seat seat = pool.join();
        try (seat;
                Mapping mapping = seat.file().map()) {
            attach(mapping, seat).newScope(10_000);
        }
        assertThat(pool.arena().usedBytes()).isPositive();
        pool.leave(seat.number());
        assertThat(pool.arena().usedBytes()).isZero();
    }

    @Test
    void shouldDoWithoutNumbersThatAClientTookWithoutBeingAsked() {
        SharedPool.Seat greedy = pool.join();
        for (int byteOfNumber = 1; byteOfNumber <= Handshake.MAX_PARTICIPANTS; byteOfNumber++) {
            assertThat(greedy.file().tryLock((1L << 60) + byteOfNumber)).isEqualTo(byteOfNumber == greedy.number());
        }
        try (SharedPool.Seat other = pool.join()) {
            assertThat(other.number()).isNotEqualTo(greedy.number());
            assertThat(other.file().isSameFile(greedy.file())).isTrue();
        }
        greedy.close();
    }

    @Test
    void shouldSayThatAllNumbersAreTakenAndByWhom() {
        List<SharedPool.Seat> stubborn = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            SharedPool.Seat seat = pool.join();
            stubborn.add(seat);
            pool.leave(seat.number());
        }
        for (int i = stubborn.size(); i < Handshake.MAX_PARTICIPANTS - 1; i++) {
            pool.join().close();
        }
        assertThrown(RpcException.class, pool::join, "all 4095", "3 of them");
        stubborn.getFirst().close();
        pool.reclaim();
        try (SharedPool.Seat seat = pool.join()) {
            assertThat(seat.number()).isEqualTo(stubborn.getFirst().number());
        }
        stubborn.forEach(SharedPool.Seat::close);
    }

    @Test
    void shouldLeaveNoDescriptorBehindWhenItIsClosed() {
        SharedPool other = new SharedPool("/test/other", ARENA, 1 << 20);
        SharedPool.Seat seat = other.join();
        SharedFile file = seat.file();
        other.close();
        seat.close();
        other.leave(seat.number());
        other.reclaim();
        assertThatThrownBy(file::fd).isInstanceOf(IllegalStateException.class);
    }
}
