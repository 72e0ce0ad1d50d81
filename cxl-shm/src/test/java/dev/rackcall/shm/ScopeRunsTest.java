package dev.rackcall.shm;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ScopeRunsTest {
    private static final long QUOTA = 4 << 20;

    private final TestMemory memory = TestMemory.create(QUOTA);
    private final Scope scope = memory.scope();
    private final ScopeRuns runs = new ScopeRuns();

    @AfterEach
    void close() {
        memory.close();
    }

    @Test
    void shouldFindAllRunsFromAnyObjectInTheScope() {
        long first = scope.allocate(100);
        long last = first;
        long allocated = 104;
        for (int i = 0; i < 100; i++) {
            last = scope.allocate(5000);
            allocated += 5000;
        }

        runs.read(scope.arena(), scope.arena().scopeOf(last));

        assertThat(scope.arena().scopeOf(last)).isEqualTo(scope.arena().scopeOf(first));
        assertThat(runs.count()).isGreaterThan(3);
        long objects = 0;
        for (int i = 0; i < runs.count(); i++) {
            objects += runs.objectBytes(i);
        }
        assertThat(objects).isEqualTo(allocated);
        assertThat(runs.totalBytes()).isEqualTo(allocated + (long) runs.count() * RunLayout.BYTES);
        assertThat(Ref.offset(first)).isEqualTo(runs.objectsAt(0));
        assertThat(Ref.offset(last)).isLessThan(runs.objectsAt(runs.count() - 1) + runs.objectBytes(runs.count() - 1));
    }

    @Test
    void shouldRefuseToBeLedOutOfTheArena() {
        long run = scope.arena().scopeOf(scope.allocate(8));
        Arena arena = scope.arena();

        assertThrown(RefException.class, () -> runs.read(arena, Ref.of(arena.id() + 1, 0, Ref.offset(run))));
        assertThatThrownBy(() -> runs.read(arena, run + 8)).isInstanceOf(RefException.class);
        assertThatThrownBy(() -> runs.read(arena, Ref.of(arena.id(), 0, 0))).isInstanceOf(RefException.class);
        assertThrown(RefException.class, () -> runs.read(arena, Ref.of(arena.id(), 0, QUOTA)), "damaged");
        assertThat(runs.count()).isZero();
    }

    @Test
    void shouldEndWhenRunsAreLinkedInACircle() {
        long run = scope.arena().scopeOf(scope.allocate(8));
        RunLayout.next(scope.arena().memory(), Ref.offset(run), run, 0);

        assertThrown(RefException.class, () -> runs.read(scope.arena(), run), "and the runs before it");
    }

    @Test
    void shouldNeverAddUpToMoreThanTheArenaWhateverStandsInTheHeaders() {
        Arena arena = scope.arena();
        scope.allocate(200_000);
        long run = arena.scopeOf(scope.allocate(8));
        MemorySegment bytes = arena.memory();
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            long page = arena.firstRunOffset() + random.nextInt(60) * ArenaLayout.PAGE;
            long next = arena.firstRunOffset() + random.nextInt(60) * ArenaLayout.PAGE;
            RunLayout.used(bytes, page, random.nextInt(4) == 0 ? random.nextLong() : random.nextInt(40_000));
            RunLayout.next(bytes, page, random.nextInt(4) == 0 ? Ref.NULL : Ref.of(arena.id(), 0, next), 0);
            try {
                runs.read(arena, run);
                assertThat(runs.totalBytes()).as("seed %d", seed).isLessThanOrEqualTo(arena.reservedBytes());
                for (int j = 0; j < runs.count(); j++) {
                    assertThat(runs.objectsAt(j) + runs.objectBytes(j)).isLessThanOrEqualTo(arena.reservedBytes());
                }
            } catch (RefException e) {
                assertThat(runs.count()).as("seed %d", seed).isZero();
            }
        }
    }
}
