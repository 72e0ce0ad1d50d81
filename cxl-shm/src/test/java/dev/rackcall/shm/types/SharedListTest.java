package dev.rackcall.shm.types;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeException;
import dev.rackcall.shm.TestMemory;
import dev.rackcall.shm.sample.Point;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SharedListTest {
    private static final SharedType<Point> POINT = SharedType.of(Point.class);
    private static final int STEPS = 3_000;

    private final TestMemory memory = TestMemory.create(4 << 20);
    private final Scope scope = memory.scope();

    @AfterEach
    void close() {
        memory.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldBehaveAsAnArrayListOfObjects(long seed) {
        Random random = new Random(seed);
        SharedList<Point> list = SharedList.create(scope, POINT);
        List<Point> model = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            int size = model.size();
            Point point = POINT.create(scope).x(step);
            switch (random.nextInt(size == 0 ? 2 : size > 200 ? 12 : 8)) {
                case 0, 2, 3 -> {
                    list.add(point);
                    model.add(point);
                }
                case 1 -> {
                    int index = random.nextInt(size + 1);
                    list.add(index, point);
                    model.add(index, point);
                }
                case 4 -> {
                    int index = random.nextInt(size);
                    list.set(index, point);
                    model.set(index, point);
                }
                default -> {
                    int index = random.nextInt(size);
                    list.removeAt(index);
                    model.remove(/* index */ index);
                }
            }
            if (random.nextInt(500) == 0) {
                list.clear();
                model.clear();
            }
            assertThat(list.size()).as("seed %d, step %d", seed, step).isEqualTo(model.size());
        }
        SharedList<Point> received = SharedList.typeOf(POINT).attach(scope.space(), SharedObject.refOf(list));
        assertThat(received).as("seed %d", seed).containsExactlyElementsOf(model);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldBehaveAsArrayListsOfNumbers(long seed) {
        Random random = new Random(seed);
        SharedIntList ints = SharedIntList.create(scope);
        SharedLongList longs = SharedLongList.create(scope);
        SharedDoubleList doubles = SharedDoubleList.create(scope);
        List<Integer> model = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            int size = model.size();
            int value = random.nextInt();
            int index = random.nextInt(size + 1);
            if (size > 0 && index < size && random.nextInt(3) == 0) {
                ints.removeAt(index);
                longs.removeAt(index);
                doubles.removeAt(index);
                model.remove(/* index */ index);
            } else if (index < size && random.nextBoolean()) {
                ints.set(index, value);
                longs.set(index, value);
                doubles.set(index, value);
                model.set(index, value);
            } else if (random.nextBoolean()) {
                ints.add(value);
                longs.add(value);
                doubles.add(value);
                model.add(value);
            } else {
                ints.add(index, value);
                longs.add(index, value);
                doubles.add(index, value);
                model.add(index, value);
            }
        }
        int[] expected = model.stream().mapToInt(Integer::intValue).toArray();
        assertThat(ints.toArray()).as("seed %d", seed).isEqualTo(expected);
        assertThat(longs.toArray())
                .as("seed %d", seed)
                .isEqualTo(model.stream().mapToLong(Integer::longValue).toArray());
        assertThat(doubles.toArray())
                .as("seed %d", seed)
                .isEqualTo(model.stream().mapToDouble(Integer::doubleValue).toArray());
        assertThat(ints.get(expected.length - 1)).isEqualTo(expected[expected.length - 1]);
        assertThat(longs.get(0)).isEqualTo(expected[0]);
        assertThat(doubles.get(0)).isEqualTo(expected[0]);
    }

    @Test
    void shouldBeEmptyAtFirst() {
        SharedIntList list = SharedIntList.create(scope);
        assertThat(list.isEmpty()).isTrue();
        assertThat(list.toArray()).isEmpty();
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> list.get(0));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> list.removeAt(0));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> list.add(1, 1));
    }

    @Test
    void shouldShowOneListThroughAllItsFlyweights() {
        SharedIntList first = SharedIntList.create(scope);
        SharedIntList second = SharedIntList.TYPE.attach(scope, SharedObject.toRef(first));
        for (int i = 0; i < 100; i++) {
            (i % 2 == 0 ? first : second).add(i);
            assertThat(first.get(i)).isEqualTo(i);
            assertThat(second.get(i)).isEqualTo(i);
        }
    }

    @Test
    void shouldForgetTheOtherListWhenItMoves() {
        SharedIntList first = SharedIntList.create(scope);
        first.add(1);
        SharedIntList second = SharedIntList.create(scope);
        SharedIntList cursor = SharedIntList.TYPE.attach(scope.space(), SharedObject.refOf(first));
        assertThat(cursor.get(0)).isEqualTo(1);
        SharedIntList.TYPE.move(cursor, SharedObject.toRef(second));
        assertThat(cursor.isEmpty()).isTrue();
    }

    @Test
    void shouldNotGrowWithoutScope() {
        SharedIntList list = SharedIntList.create(scope);
        SharedIntList received = SharedIntList.TYPE.attach(scope.space(), SharedObject.refOf(list));
        assertThrown(ScopeException.class, () -> received.add(1), "SharedIntList");
        list.add(1);
        received.add(2);
        assertThat(list.toArray()).containsExactly(1, 2);
    }

    @Test
    void shouldRefuseNull() {
        SharedList<Point> list = SharedList.create(scope, POINT);
        assertThatNullPointerException().isThrownBy(() -> list.add(null)).withMessageContaining("Point");
        assertThat(list).isEmpty();
    }

    @Test
    void shouldReportASizeThatDoesNotFit() {
        SharedIntList list = SharedIntList.create(scope);
        list.add(1);
        RefSpace space = scope.space();
        long ref = SharedObject.refOf(list);
        for (int size : new int[] {-1, 9, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            space.memory(ref).set(ObjectLayout.INT, space.offset(ref) + GrowableList.SIZE, size);
            assertThrown(SharedDataException.class, list::size, String.valueOf(size), "8");
            assertThatExceptionOfType(SharedDataException.class).isThrownBy(() -> list.get(0));
            assertThatExceptionOfType(SharedDataException.class).isThrownBy(() -> list.add(1));
        }
    }
}
