package dev.rackcall.shm.types;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TestMemory;
import dev.rackcall.shm.sample.Document;
import dev.rackcall.shm.sample.Point;
import dev.rackcall.shm.sample.Polygon;
import dev.rackcall.shm.sample.Release;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SharedInlineArrayTest {
    private static final SharedType<Point> POINT = SharedType.of(Point.class);

    @Shared
    interface Nothing {}

    private final TestMemory memory = TestMemory.create(1 << 20);
    private final Scope scope = memory.scope();

    @AfterEach
    void close() {
        memory.close();
    }

    @Test
    void shouldHoldRecordsSideBySide() {
        SharedInlineArray<Point> array = SharedInlineArray.create(scope, POINT, 3);
        Point cursor = POINT.flyweight();
        for (int i = 0; i < 3; i++) {
            array.get(i, cursor);
            assertThat(cursor.x()).isZero();
            assertThat(cursor.label()).isEmpty();
            cursor.x(i).y(-i).label("point " + i);
        }

        SharedInlineArray<Point> received =
                SharedInlineArray.typeOf(POINT).attach(scope.space(), SharedObject.refOf(array));
        assertThat(received.length()).isEqualTo(3);
        for (int i = 0; i < 3; i++) {
            assertThat(received.get(i).x()).isEqualTo(i);
            assertThat(received.get(i).y()).isEqualTo(-i);
            assertThat(received.get(i).label()).isEqualTo("point " + i);
        }
        assertThat(received.get(1)).isEqualTo(array.get(1)).isNotEqualTo(array.get(2));
    }

    @Test
    void shouldTakeTheMemoryOfTheFieldsOnly() {
        long before = SharedObject.refOf(scope.create(Point.class));
        SharedInlineArray.create(scope, POINT, 100);
        long after = SharedObject.refOf(scope.create(Point.class));
        int fields = POINT.bytes() - ObjectLayout.HEADER_BYTES;
        assertThat(after - before).isEqualTo(POINT.bytes() + ObjectLayout.HEADER_BYTES + 100L * fields);
    }

    @Test
    void shouldMoveAFlyweightToANewArray() {
        SharedInlineArray<Point> array = SharedInlineArray.create(scope, POINT, 0);
        assertThat(array.length()).isZero();
        SharedInlineArray.create(scope, 2, array);
        assertThat(array.length()).isEqualTo(2);
        assertThat(array.get(1).x()).isZero();
    }

    @Test
    void shouldRefuseIndexesBeyondItsEnds() {
        SharedInlineArray<Point> array = SharedInlineArray.create(scope, POINT, 2);
        Point cursor = POINT.flyweight();
        array.get(0, cursor);
        cursor.x(7);
        for (int index : new int[] {-1, 2, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            assertThrown(IndexOutOfBoundsException.class, () -> array.get(index));
            assertThrown(IndexOutOfBoundsException.class, () -> array.get(index, cursor));
        }
        assertThat(cursor.x()).isEqualTo(7);
    }

    @Test
    void shouldSayThatAnElementHasNoRef() {
        Point element = SharedInlineArray.create(scope, POINT, 2).get(0);
        assertThat(SharedObject.isEmbedded(element)).isTrue();
        assertThrown(IllegalArgumentException.class, () -> SharedObject.refOf(element), "no Ref of its own");
    }

    @Test
    void shouldRefuseElementsThatNeedAHeader() {
        SharedType<Release> versioned = SharedType.of(Release.class);
        assertThrown(IllegalArgumentException.class, () -> SharedInlineArray.typeOf(versioned), "@Since");
        assertThrown(
                IllegalArgumentException.class, () -> SharedInlineArray.typeOf(SharedString.TYPE), "use a SharedArray");
        SharedType<Nothing> empty = SharedType.of(Nothing.class);
        assertThrown(IllegalArgumentException.class, () -> SharedInlineArray.typeOf(empty), "records with fields");
    }

    @Test
    void shouldSayThatAFlyweightIsOnNoArray() {
        SharedInlineArray<Point> nowhere = SharedInlineArray.typeOf(POINT).flyweight();
        assertThrown(IllegalStateException.class, () -> nowhere.get(0), "on no object");
    }

    @Test
    void shouldNotTakeAnArrayOfOtherElementsForItsOwn() {
        SharedInlineArray<Document> others = SharedInlineArray.create(scope, SharedType.of(Document.class), 2);
        long ref = SharedObject.refOf(others);
        assertThrown(
                RefException.class,
                () -> SharedInlineArray.typeOf(POINT).attach(scope.space(), ref),
                "does not lead to a SharedInlineArray");
    }

    @Test
    void shouldRefuseASizeThatHoldsNoWholeElements() {
        SharedInlineArray<Point> array = SharedInlineArray.create(scope, POINT, 2);
        SharedType<SharedInlineArray<Point>> type = SharedInlineArray.typeOf(POINT);
        RefSpace space = scope.space();
        long ref = SharedObject.refOf(array);
        for (int bytes : new int[] {0, 9, POINT.bytes() + 1, -8, Integer.MIN_VALUE, Integer.MAX_VALUE - 7}) {
            space.memory(ref).set(ObjectLayout.LONG, space.offset(ref), ObjectLayout.header(type.typeId(), bytes));
            assertThrown(RefException.class, () -> type.attach(space, ref), "damaged");
        }
    }

    @Test
    void shouldBeCopiedWithWhatItsElementsReferTo() {
        Polygon polygon = scope.create(Polygon.class).corners(SharedInlineArray.create(scope, POINT, 2));
        polygon.corners().get(0).x(1).label("first");
        polygon.corners().get(1).x(2).label("second");
        try (TestMemory other = TestMemory.create(1 << 20)) {
            Polygon copy = DeepCopy.DEFAULT.copy(polygon, other.scope());
            polygon.corners().get(0).x(0).label("gone");
            polygon.corners().get(1).x(0).label("gone");
            assertThat(copy.hole()).isEmpty();
            assertThat(copy.corners().length()).isEqualTo(2);
            assertThat(copy.corners().get(0).x()).isEqualTo(1);
            assertThat(copy.corners().get(0).label()).isEqualTo("first");
            assertThat(copy.corners().get(1).label()).isEqualTo("second");
        }
    }
}
