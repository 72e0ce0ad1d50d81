package dev.rackcall.shm.pool;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.os.BootId;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several hosts use one pool. Here it is a file; the rack test uses a device and one kernel for each host. */
class PoolHostsTest {
    private static final BootId BOOT_0 = new BootId(0xa0);
    private static final BootId BOOT_1 = new BootId(0xa1);

    @TempDir
    private Path directory;

    private Path path;

    @BeforeEach
    void make() {
        path = directory.resolve("device");
        SharedFile.createFile(path, 1 << 20).close();
    }

    private Pool host(int number, BootId boot) {
        return Pool.ofHost(SharedFile.openFile(path), number, boot);
    }

    @Test
    void shouldGiveEachHostNumbersOfItsOwn() {
        try (Pool a = host(0, BOOT_0);
                Pool again = host(0, BOOT_0);
                Pool b = host(63, BOOT_1)) {
            assertThat(a.arena().participant()).isEqualTo(2);
            assertThat(again.arena().participant()).isEqualTo(3);
            assertThat(b.arena().participant()).isEqualTo(2 + 63 * 63);
            assertThat(PoolHosts.last(63)).isLessThan(PoolHosts.POOL);
            assertThat(b.arena().id()).isEqualTo(a.arena().id());
            assertThat(a.others()).isEqualTo(1);
            assertThat(b.others()).isZero();
        }
    }

    /** A later process cannot see the locks of the other host, whose participants are alive all the same. */
    @Test
    void shouldNotTakeParticipantsOfOtherHostsForDead() {
        try (Pool a = host(0, BOOT_0);
                Pool b = host(1, BOOT_1)) {
            long instance = a.instanceId();
            a.arena().newScope().allocate(8);
            b.arena().newScope().allocate(8);
            long used = a.arena().usedBytes();
            try (Pool later = host(1, BOOT_1)) {
                assertThat(later.reclaimDead()).isZero();
                assertThat(a.reclaimDead()).isZero();
                assertThat(later.instanceId()).isEqualTo(instance);
                assertThat(later.arena().usedBytes()).isEqualTo(used).isPositive();
            }
        }
    }

    @Test
    void shouldFreeWhatAHostHadThatIsGone() {
        try (Pool a = host(0, BOOT_0);
                Pool b = host(1, BOOT_1)) {
            long kept = a.arena().newScope().allocate(8);
            long used = a.arena().usedBytes();
            b.arena().newScope().allocate(8);
            b.arena().newScope().allocate(8);

            assertThat(a.reclaimHost(1)).isEqualTo(2);
            assertThat(a.reclaimHost(1)).isZero();
            assertThat(a.arena().usedBytes()).isEqualTo(used).isPositive();
            assertThat(a.arena().scopeOf(kept)).isNotZero();
            // After a restart, the host gets its number again.
            try (Pool anew = host(1, new BootId(0xb1))) {
                assertThat(anew.arena().newScope().allocate(8)).isNotZero();
            }
        }
    }

    @Test
    void shouldRefuseToReclaimItself() {
        try (Pool a = host(0, BOOT_0)) {
            assertThrown(IllegalArgumentException.class, () -> a.reclaimHost(0), "this host");
        }
    }

    @Test
    void shouldNoticeThatTwoHostsHaveOneNumber() {
        try (Pool a = host(0, BOOT_0)) {
            assertThrown(PoolException.class, () -> host(0, BOOT_1), "host number 0", "a1", "reclaimHost(0)");
            assertThat(a.others()).isZero();
        }
    }

    @Test
    void shouldRefuseNumbersThatNoHostHas() {
        assertThrown(IllegalArgumentException.class, () -> host(64, BOOT_0), "64", "0 to 63");
        assertThatThrownBy(() -> host(-1, BOOT_0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldKeepWhatIsAHostsBeyondItsProcesses() {
        try (Pool a = host(0, BOOT_0)) {
            long place;
            try (Pool b = host(1, BOOT_1)) {
                place = b.commons().orElseThrow().takeForHost(100);
                b.commons().orElseThrow().memory().set(ValueLayout.JAVA_LONG, place, 7);
                b.commons().orElseThrow().roots().set(ValueLayout.JAVA_LONG, 8, place);
            }
            PoolCommons commons = a.commons().orElseThrow();
            assertThat(commons.roots().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(place);
            assertThat(commons.memory().get(ValueLayout.JAVA_LONG, place)).isEqualTo(7);
            assertThat(commons.isThere(1, BOOT_1.bits())).isTrue();
            assertThat(a.reclaimHost(1)).isEqualTo(1);
            assertThat(commons.isThere(1, BOOT_1.bits())).isFalse();
            long pools = commons.takeForPool(100);
            assertThat(a.arena().usedBytes()).isPositive();
            commons.give(pools);
            assertThatThrownBy(() -> commons.give(pools)).isInstanceOf(IllegalArgumentException.class);
            assertThat(a.arena().usedBytes()).isZero();
        }
    }

    /** Messages advise this to users who want to use a device for something else. */
    @Test
    void shouldFindNothingOfAnEarlierPoolOnceItsFirstPageIsCleared() {
        // Open until the end, since the last user that closes a file removes it.
        try (Pool earlier = host(0, BOOT_0);
                SharedFile device = SharedFile.openFile(path);
                Mapping mapping = device.map()) {
            earlier.commons().orElseThrow().takeForHost(10_000);
            earlier.commons().orElseThrow().takeForPool(100);
            mapping.memory().asSlice(0, PoolLayout.ARENA).fill((byte) 0);
            try (Pool anew = host(1, BOOT_1)) {
                Arena arena = anew.arena();
                assertThat(arena.usedBytes()).isZero();
                assertThat(arena.freeRun(arena.allocateRun(arena.freeBytes()))).isTrue();
            }
        }
    }

    @Test
    void shouldMapAWindowByItself() {
        try (Pool a = host(0, BOOT_0);
                Pool b = host(1, BOOT_1)) {
            long place = a.commons().orElseThrow().takeWindow(10_000);
            SharedFile mine = a.commons().orElseThrow().window(place, 12_288);
            SharedFile theirs = b.commons().orElseThrow().window(place, 12_288);
            SharedFile other = b.commons().orElseThrow().window(place + 4096, 8192);
            try (mine;
                    theirs;
                    other;
                    Mapping here = mine.map();
                    Mapping there = theirs.map()) {
                here.memory().set(ValueLayout.JAVA_LONG, 12_280, 9);
                assertThat(there.memory().byteSize()).isEqualTo(12_288);
                assertThat(there.memory().get(ValueLayout.JAVA_LONG, 12_280)).isEqualTo(9);
                assertThat(b.commons().orElseThrow().memory().get(ValueLayout.JAVA_LONG, place + 12_280))
                        .isEqualTo(9);
                assertThat(mine.isSameFile(theirs)).isTrue();
                assertThat(mine.isSameFile(other)).isFalse();
            }
            assertThatThrownBy(() -> a.file().window(1 << 20, 4096)).hasMessageContaining("no window");
            assertThatThrownBy(() -> a.file().window(100, 4096)).hasMessageContaining("no window");
        }
    }

    @Test
    void shouldKnowTheBootOfThisHost() {
        assertThat(BootId.current()).isEqualTo(BootId.current());
        assertThat(BootId.current().bits()).isNotZero();
    }
}
