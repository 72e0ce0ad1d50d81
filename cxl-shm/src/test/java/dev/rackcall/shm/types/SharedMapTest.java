package dev.rackcall.shm.types;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeException;
import dev.rackcall.shm.TestMemory;
import dev.rackcall.shm.sample.Point;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SharedMapTest {
    private static final SharedType<Point> POINT = SharedType.of(Point.class);
    private static final int STEPS = 5_000;

    private final TestMemory memory = TestMemory.create(8 << 20);
    private final Scope scope = memory.scope();

    @AfterEach
    void close() {
        memory.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldBehaveAsAHashMapWithTextKeys(long seed) {
        Random random = new Random(seed);
        SharedStringMap<Point> map = SharedStringMap.create(scope, POINT);
        Map<String, Point> model = new HashMap<>();
        for (int step = 0; step < STEPS; step++) {
            String key = "key" + random.nextInt(400) + (random.nextInt(8) == 0 ? "\u00e9\ud83d\ude80" : "");
            if (random.nextInt(5) < 3) {
                Point value = POINT.create(scope).x(step);
                boolean isNew =
                        random.nextBoolean() ? map.put(key, value) : map.put(SharedString.create(scope, key), value);
                assertThat(isNew).as("seed %d, step %d", seed, step).isEqualTo(model.put(key, value) == null);
            } else {
                boolean removed = random.nextBoolean() ? map.remove(key) : map.remove(SharedString.create(scope, key));
                assertThat(removed).as("seed %d, step %d", seed, step).isEqualTo(model.remove(key) != null);
            }
            if (random.nextInt(1000) == 0) {
                map.clear();
                model.clear();
            }
            assertThat(map.size()).as("seed %d, step %d", seed, step).isEqualTo(model.size());
        }
        SharedStringMap<Point> received = SharedStringMap.typeOf(POINT).attach(scope.space(), SharedObject.refOf(map));
        Map<String, Point> walked = new HashMap<>();
        received.forEach(
                (key, value) -> assertThat(walked.put(key.toString(), value)).isNull());
        assertThat(walked).as("seed %d", seed).isEqualTo(model);
        Point cursor = POINT.flyweight();
        model.forEach((key, value) -> {
            assertThat(received.get(key)).contains(value);
            assertThat(received.get(key, cursor)).isTrue();
            assertThat(cursor).isEqualTo(value);
            SharedString sharedKey = SharedString.create(scope, key);
            assertThat(received.get(sharedKey)).contains(value);
            assertThat(received.get(sharedKey, cursor)).isTrue();
            assertThat(received.containsKey(sharedKey)).isTrue();
        });
        assertThat(received.get("absent")).isEmpty();
        assertThat(received.get("absent", cursor)).isFalse();
        assertThat(received.containsKey("absent")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldBehaveAsAHashMapWithLongKeys(long seed) {
        Random random = new Random(seed);
        SharedLongMap<Point> map = SharedLongMap.create(scope, POINT);
        Map<Long, Point> model = new HashMap<>();
        for (int step = 0; step < STEPS; step++) {
            long key = (random.nextInt(400) - 200L) << (random.nextInt(3) * 20);
            if (random.nextInt(5) < 3) {
                Point value = POINT.create(scope).x(step);
                assertThat(map.put(key, value)).isEqualTo(model.put(key, value) == null);
            } else {
                assertThat(map.remove(key)).as("seed %d, step %d", seed, step).isEqualTo(model.remove(key) != null);
            }
            assertThat(map.size()).as("seed %d, step %d", seed, step).isEqualTo(model.size());
        }
        SharedLongMap<Point> received = SharedLongMap.typeOf(POINT).attach(scope.space(), SharedObject.refOf(map));
        Map<Long, Point> walked = new HashMap<>();
        received.forEach((key, value) -> assertThat(walked.put(key, value)).isNull());
        assertThat(walked).as("seed %d", seed).isEqualTo(model);
        Point cursor = POINT.flyweight();
        model.forEach((key, value) -> {
            assertThat(received.get(key)).contains(value);
            assertThat(received.get(key, cursor)).isTrue();
            assertThat(cursor).isEqualTo(value);
        });
        assertThat(received.containsKey(Long.MAX_VALUE)).isFalse();
    }

    @Test
    void shouldWalkWithoutNewFlyweights() {
        SharedStringMap<Point> map = SharedStringMap.create(scope, POINT);
        map.put("a", POINT.create(scope).x(1));
        map.put("b", POINT.create(scope).x(2));
        SharedString key = SharedString.TYPE.flyweight();
        Point value = POINT.flyweight();
        StringBuilder seen = new StringBuilder();
        int sum = 0;
        for (SharedStringMap.Cursor<Point> cursor = map.cursor(); cursor.next(); ) {
            cursor.key(key);
            cursor.value(value);
            seen.append(key);
            sum += value.x();
        }
        assertThat(seen.toString()).hasSize(2).contains("a", "b");
        assertThat(sum).isEqualTo(3);
    }

    @Test
    void shouldNoticeThatItGrewDuringAWalk() {
        SharedLongMap<Point> map = SharedLongMap.create(scope, POINT);
        Point value = POINT.create(scope);
        map.put(0, value);
        SharedLongMap.Cursor<Point> cursor = map.cursor();
        for (int i = 1; i < 100; i++) {
            map.put(i, value);
        }
        assertThrown(java.util.ConcurrentModificationException.class, cursor::next);
    }

    @Test
    void shouldRefuseNullAndLackOfScope() {
        SharedStringMap<Point> map = SharedStringMap.create(scope, POINT);
        Point value = POINT.create(scope);
        assertThatNullPointerException().isThrownBy(() -> map.put("a", null)).withMessageContaining("Point");
        assertThat(map.isEmpty()).isTrue();
        SharedStringMap<Point> received = SharedStringMap.typeOf(POINT).attach(scope.space(), SharedObject.refOf(map));
        assertThatExceptionOfType(ScopeException.class).isThrownBy(() -> received.put("a", value));
        map.put("a", value);
        assertThat(received.put("a", POINT.create(scope).x(7))).isFalse();
        assertThat(map.get("a").orElseThrow().x()).isEqualTo(7);
        assertThatExceptionOfType(ScopeException.class).isThrownBy(() -> received.put("b", value));
        assertThat(received.remove("a")).isTrue();
        assertThat(map.isEmpty()).isTrue();
    }

    @Test
    void shouldReportATableThatIsNone() {
        SharedLongMap<Point> map = SharedLongMap.create(scope, POINT);
        Point value = POINT.create(scope);
        map.put(1, value);
        RefSpace space = scope.space();
        long ref = SharedObject.refOf(map);
        long odd = SharedObject.refOf(MapSlots.withLongKeys(POINT).createOf(scope, 9));
        space.memory(ref).set(ObjectLayout.LONG, space.offset(ref) + MapSlots.MAP_TABLE, odd);
        assertThrown(SharedDataException.class, () -> map.get(1), "9 slots", "power of two");
    }

    @Test
    void shouldReportATableWithoutFreeSlot() {
        SharedLongMap<Point> map = SharedLongMap.create(scope, POINT);
        Point value = POINT.create(scope);
        map.put(1, value);
        MapSlots full = MapSlots.withLongKeys(POINT).createOf(scope, 1 << 13);
        for (int slot = 0; slot < full.length(); slot++) {
            full.key(slot, 7);
            full.value(slot, SharedObject.refOf(value));
        }
        RefSpace space = scope.space();
        long ref = SharedObject.refOf(map);
        space.memory(ref).set(ObjectLayout.LONG, space.offset(ref) + MapSlots.MAP_TABLE, SharedObject.refOf(full));
        assertThrown(SharedDataException.class, () -> map.get(1), "damaged");
        assertThatExceptionOfType(SharedDataException.class).isThrownBy(() -> map.put(1, value));
        assertThatExceptionOfType(SharedDataException.class).isThrownBy(() -> map.remove(7));
    }

    /** A peer may remove an entry during a walk. */
    @Test
    void shouldNotTakeTheValueOfAnEntryThatWasRemovedForTheOneBefore() {
        SharedStringMap<Point> byName = SharedStringMap.create(scope, POINT);
        byName.put("only", POINT.create(scope));
        SharedStringMap.Cursor<Point> named = byName.cursor();
        SharedLongMap<Point> byNumber = SharedLongMap.create(scope, POINT);
        byNumber.put(1, POINT.create(scope));
        SharedLongMap.Cursor<Point> numbered = byNumber.cursor();
        assertThat(named.next()).isTrue();
        assertThat(numbered.next()).isTrue();

        byName.clear();
        byNumber.clear();

        Point before = POINT.create(scope);
        assertThatExceptionOfType(RefException.class).isThrownBy(() -> named.value(before));
        assertThatExceptionOfType(RefException.class).isThrownBy(() -> numbered.value(before));
    }
}
