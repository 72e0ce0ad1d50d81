package dev.rackcall.shm.types;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TestMemory;
import dev.rackcall.shm.sample.Point;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SharedSequenceTest {
    private static final List<String> TEXTS = List.of(
            "",
            "a",
            "b",
            "ab",
            "aa",
            "\u00e9",
            "e\u0301",
            "\u0416",
            "\u20ac",
            "\ud83d\ude80",
            "a\ud83d\ude80z",
            "12345678",
            "123456789");

    private final TestMemory memory = TestMemory.create(1 << 20);
    private final Scope scope = memory.scope();

    @AfterEach
    void close() {
        memory.close();
    }

    @Test
    void shouldCompareTextAsJavaDoes() {
        for (String left : TEXTS) {
            SharedString shared = SharedString.create(scope, left);
            assertThat(shared).hasToString(left);
            assertThat(shared.length()).isEqualTo(left.getBytes(StandardCharsets.UTF_8).length);
            assertThat(shared.toUtf8()).isEqualTo(left.getBytes(StandardCharsets.UTF_8));
            for (String right : TEXTS) {
                SharedString other = SharedString.create(scope, CharBuffer.wrap(right));
                assertThat(shared.contentEquals(right))
                        .as("%s and %s", left, right)
                        .isEqualTo(left.equals(right));
                assertThat(shared.contentEquals(other))
                        .as("%s and %s", left, right)
                        .isEqualTo(left.equals(right));
                int[] leftPoints = left.codePoints().toArray();
                int[] rightPoints = right.codePoints().toArray();
                assertThat(Integer.signum(shared.compareContent(other)))
                        .as("%s and %s", left, right)
                        .isEqualTo(Integer.signum(Arrays.compare(leftPoints, rightPoints)));
                assertThat(shared).isNotEqualTo(other);
            }
        }
    }

    @Test
    void shouldHashTextInMemoryAsOnTheHeap() {
        for (String text : TEXTS) {
            SharedString shared = SharedString.create(scope, text);
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            assertThat(shared.contentHash(42)).isEqualTo(KeyHash.of(utf8, 42));
            assertThat(shared.contentHash(43)).isNotEqualTo(KeyHash.of(utf8, 42));
        }
        assertThat(TEXTS.stream().map(text -> KeyHash.of(text.getBytes(StandardCharsets.UTF_8), 42)))
                .doesNotHaveDuplicates();
    }

    @Test
    void shouldKeepPrimitives() {
        SharedIntArray ints = SharedIntArray.copyOf(scope, 1, Integer.MIN_VALUE);
        SharedLongArray longs = SharedLongArray.copyOf(scope, 1, Long.MIN_VALUE);
        SharedFloatArray floats = SharedFloatArray.copyOf(scope, 1, Float.NaN);
        SharedDoubleArray doubles = SharedDoubleArray.copyOf(scope, 1, Double.NEGATIVE_INFINITY);
        SharedBytes bytes = SharedBytes.copyOf(scope, new byte[] {1, -1});

        assertThat(ints.toArray()).containsExactly(1, Integer.MIN_VALUE);
        assertThat(longs.toArray()).containsExactly(1, Long.MIN_VALUE);
        assertThat(floats.toArray()).containsExactly(1, Float.NaN);
        assertThat(doubles.toArray()).containsExactly(1, Double.NEGATIVE_INFINITY);
        assertThat(bytes.toArray()).containsExactly(1, -1);
        ints.set(0, 7);
        longs.set(0, 8);
        floats.set(0, 9);
        doubles.set(0, 10);
        bytes.segment().set(ObjectLayout.BYTE, 0, (byte) 11);
        assertThat(ints.get(0)).isEqualTo(7);
        assertThat(longs.get(0)).isEqualTo(8);
        assertThat(floats.get(0)).isEqualTo(9);
        assertThat(doubles.get(0)).isEqualTo(10);
        assertThat(bytes.get(0)).isEqualTo((byte) 11);
    }

    @Test
    void shouldRefuseIndicesOutside() {
        SharedLongArray array = SharedLongArray.create(scope, 3);
        for (int index : new int[] {-1, 3, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> array.get(index));
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> array.set(index, 0));
        }
        assertThrown(IndexOutOfBoundsException.class, () -> array.copyFrom(new long[4], 0, 0, 4));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> array.copyTo(2, new long[4], 0, 2));
        assertThatIllegalArgumentException().isThrownBy(() -> SharedLongArray.create(scope, -1));
    }

    @Test
    void shouldKeepReferences() {
        SharedType<Point> pointType = SharedType.of(Point.class);
        SharedArray<Point> array = SharedArray.create(scope, pointType, 2);
        Point point = pointType.create(scope).x(5);
        array.set(1, point);

        SharedArray<Point> received = SharedArray.typeOf(pointType).attach(scope.space(), SharedObject.refOf(array));
        Point cursor = pointType.flyweight();
        assertThat(received.length()).isEqualTo(2);
        assertThat(received.get(1)).isEqualTo(point);
        assertThat(received.ref(1)).isEqualTo(SharedObject.toRef(point));
        assertThat(received.get(0, cursor)).isFalse();
        assertThat(received.get(1, cursor)).isTrue();
        assertThat(cursor.x()).isEqualTo(5);
        assertThrown(RefException.class, () -> received.get(0), "element 0", "null");
        array.setNull(1);
        assertThat(received.isNull(1)).isTrue();
    }

    @Test
    void shouldRefuseASizeThatHoldsNoWholeElements() {
        refuseSizes(SharedLongArray.TYPE, SharedLongArray.create(scope, 3), 12);
        refuseSizes(SharedBytes.TYPE, SharedBytes.create(scope, 3));
        refuseSizes(SharedString.TYPE, SharedString.create(scope, "three"));
    }

    /** The greatest negative sizes become large positive ones when the header's length is taken off. */
    private <T> void refuseSizes(SharedType<T> type, T object, int... more) {
        long ref = SharedObject.refOf(object);
        RefSpace space = scope.space();
        int[] sizes = {0, 7, -8, Integer.MIN_VALUE, Integer.MIN_VALUE + 7, Integer.MAX_VALUE - 7};
        IntStream.concat(IntStream.of(sizes), IntStream.of(more)).forEach(bytes -> {
            space.memory(ref).set(ObjectLayout.LONG, space.offset(ref), ObjectLayout.header(type.typeId(), bytes));
            assertThrown(RefException.class, () -> type.attach(space, ref), "damaged");
        });
    }
}
