package dev.rackcall.shm.types;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeException;
import dev.rackcall.shm.ScopeSeal;
import dev.rackcall.shm.SealedScopeException;
import dev.rackcall.shm.TestMemory;
import dev.rackcall.shm.sample.Point;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a scope refuses while it is sealed. Another module tests the write protection of its pages. */
class ScopeSealTest {
    private static final String CALL = "call /shop/search.index";
    private final TestSeal seal = new TestSeal();

    private static final class TestSeal implements ScopeSeal {
        private Scope done;

        @Override
        public boolean releaseIfDone() {
            if (done == null) {
                return false;
            }
            done.unseal();
            return true;
        }

        @Override
        public String toString() {
            return CALL;
        }
    }

    private final TestMemory memory = TestMemory.create(1 << 20);
    private final Scope scope = memory.scope();

    @AfterEach
    void close() {
        memory.close();
    }

    @Test
    void shouldNameTheScopeAndTheCall() {
        Point point = scope.create(Point.class);
        scope.seal(seal);

        assertThrown(
                SealedScopeException.class,
                () -> point.x(1),
                CALL,
                scope.arena().toString(),
                "offset 0x" + Long.toHexString(Ref.offset(scope.firstRun())));
        assertThat(point.x()).isZero();
        scope.unseal();
        point.x(1);
        assertThat(point.x()).isEqualTo(1);
    }

    @Test
    void shouldRefuseEveryChangeThroughAFlyweight() {
        SharedIntArray ints = SharedIntArray.copyOf(scope, 1, 2, 3);
        SharedBytes bytes = SharedBytes.copyOf(scope, new byte[] {1, 2, 3});
        SharedLongArray longs = SharedLongArray.copyOf(scope, 1, 2, 3);
        SharedDoubleArray doubles = SharedDoubleArray.copyOf(scope, 1, 2, 3);
        SharedList<Point> list = SharedList.create(scope, Point.class);
        list.add(scope.create(Point.class));
        SharedStringMap<Point> map = SharedStringMap.create(scope, Point.class);
        map.put("a", list.get(0));
        SharedLongMap<Point> numbers = SharedLongMap.create(scope, Point.class);
        numbers.put(7, list.get(0));
        Map<String, Runnable> changes = new LinkedHashMap<>();
        changes.put("set int", () -> ints.set(0, 9));
        changes.put("copy ints", () -> ints.copyFrom(new int[] {9, 9}, 0, 0, 2));
        changes.put("set byte", () -> bytes.set(0, (byte) 9));
        changes.put("copy bytes", () -> bytes.copyFrom(new byte[] {9, 9}, 0, 0, 2));
        changes.put("set long", () -> longs.set(0, 9));
        changes.put("set double", () -> doubles.set(0, 9));
        changes.put("add", () -> list.add(list.get(0)));
        changes.put("remove at", () -> list.removeAt(0));
        changes.put("clear list", list::clear);
        changes.put("put", () -> map.put("b", list.get(0)));
        changes.put("put again", () -> map.put("a", list.get(0)));
        changes.put("remove", () -> map.remove("a"));
        changes.put("clear map", map::clear);
        changes.put("put number", () -> numbers.put(8, list.get(0)));
        changes.put("remove number", () -> numbers.remove(7));
        changes.put("create", () -> scope.create(Point.class));
        changes.put("string", () -> SharedString.create(scope, "text"));
        changes.put("allocate", () -> scope.allocate(8));
        changes.put("reset", scope::reset);
        changes.put("detach", scope::detach);
        changes.put("seal again", () -> scope.seal(new TestSeal()));
        scope.seal(seal);

        changes.forEach((name, change) -> assertThatThrownBy(change::run)
                .as(name)
                .isInstanceOf(SealedScopeException.class)
                .hasMessageContaining(CALL));
        assertThat(ints.toArray()).containsExactly(1, 2, 3);
        assertThat(bytes.toArray()).containsExactly(1, 2, 3);
        assertThat(list.size()).isEqualTo(1);
        assertThat(map.size()).isEqualTo(1);
        assertThat(numbers.size()).isEqualTo(1);
    }

    @Test
    void shouldNotRefuseWhatLiesInAnotherScope() {
        try (Scope other = scope.arena().newScope()) {
            Point elsewhere = other.create(Point.class);
            Point reached = SharedType.of(Point.class).attach(other.space(), scope, SharedObject.refOf(elsewhere));
            scope.seal(seal);

            assertThatCode(() -> reached.x(3)).doesNotThrowAnyException();
            assertThat(elsewhere.x()).isEqualTo(3);
        }
    }

    @Test
    void shouldFreeAClosedScopeOnlyWhenItIsUnsealed() {
        Arena arena = scope.arena();
        Scope closing = arena.newScope();
        long ref = SharedObject.refOf(closing.create(Point.class));
        long used = arena.usedBytes();
        closing.seal(seal);

        closing.close();
        closing.closeForOwner();

        assertThat(closing.isOpen()).isFalse();
        assertThat(closing.isSealed()).isTrue();
        assertThat(arena.usedBytes()).isEqualTo(used);
        assertThatCode(() -> arena.newScope().space().memory(ref)).doesNotThrowAnyException();

        closing.unseal();
        closing.unseal();
        assertThat(closing.isSealed()).isFalse();
        assertThatThrownBy(() -> arena.newScope().space().memory(ref)).isInstanceOf(RefException.class);
    }

    @Test
    void shouldReleaseAnEndedSealWhenTheScopeIsUsed() {
        Point point = scope.create(Point.class);
        List<Runnable> uses = List.of(() -> point.x(4), () -> scope.allocate(8), () -> scope.seal(new TestSeal()));
        for (Runnable use : uses) {
            scope.seal(seal);
            assertThatThrownBy(use::run).isInstanceOf(SealedScopeException.class);
            seal.done = scope;

            use.run();
            seal.done = null;
            scope.unseal();
        }
        assertThat(point.x()).isEqualTo(4);
    }

    @Test
    void shouldNotSealWhatIsClosedOrDetached() {
        Scope closed = scope.arena().newScope();
        closed.close();
        Scope detached = scope.arena().newScope();
        detached.detach();

        assertThrown(ScopeException.class, () -> closed.seal(seal), CALL);
        assertThatThrownBy(() -> detached.seal(seal)).isInstanceOf(ScopeException.class);
        detached.close();
    }
}
