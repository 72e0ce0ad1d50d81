package dev.rackcall.shm.types;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeException;
import dev.rackcall.shm.TestMemory;
import dev.rackcall.shm.sample.Author;
import dev.rackcall.shm.sample.Color;
import dev.rackcall.shm.sample.Document;
import dev.rackcall.shm.sample.Point;
import dev.rackcall.shm.sample.Release;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FlyweightTest {
    private static final SharedType<Document> DOCUMENT = SharedType.of(Document.class);
    private static final SharedType<Author> AUTHOR = SharedType.of(Author.class);
    private static final SharedType<Release> RELEASE = SharedType.of(Release.class);

    private final TestMemory memory = TestMemory.create(1 << 20);
    private final Scope scope = memory.scope();
    private final Document document = DOCUMENT.create(scope);

    @AfterEach
    void close() {
        memory.close();
    }

    @Test
    void shouldReadPrimitivesAsTheyWereWritten() {
        document.id(Long.MIN_VALUE).year(-1);
        document.open(true);
        document.level(Byte.MIN_VALUE);
        document.port(Short.MIN_VALUE);
        document.initial('\uffff');
        document.weight(Float.MIN_VALUE);
        document.price(Double.MAX_VALUE);
        document.color(Color.BLUE);
        document.code("ab\u00e9cd");

        Document received = received();
        assertThat(received.id()).isEqualTo(Long.MIN_VALUE);
        assertThat(received.year()).isEqualTo(-1);
        assertThat(received.open()).isTrue();
        assertThat(received.level()).isEqualTo(Byte.MIN_VALUE);
        assertThat(received.port()).isEqualTo(Short.MIN_VALUE);
        assertThat(received.initial()).isEqualTo('\uffff');
        assertThat(received.weight()).isEqualTo(Float.MIN_VALUE);
        assertThat(received.price()).isEqualTo(Double.MAX_VALUE);
        assertThat(received.color()).isEqualTo(Color.BLUE);
        assertThat(received.code()).isEqualTo("ab\u00e9cd");
    }

    @Test
    void shouldReadVariablePartsAsTheyWereWritten() {
        SharedString body = SharedString.create(scope, "body \ud83d\ude80");
        document.title("title").subtitle(Optional.of("sub"));
        document.blob(new byte[] {1, 2, 3});
        document.thumbnail(Optional.of(new byte[] {4}));
        document.body(body);

        Document received = received();
        assertThat(received.title()).isEqualTo("title");
        assertThat(received.subtitle()).contains("sub");
        assertThat(received.blob()).containsExactly(1, 2, 3);
        assertThat(received.thumbnail().orElseThrow()).containsExactly(4);
        assertThat(received.body()).isEqualTo(body).hasToString("body \ud83d\ude80");
    }

    @Test
    void shouldReadFieldsThatWereNeverSetAsTheirDefaults() {
        assertThat(document.id()).isZero();
        assertThat(document.open()).isFalse();
        assertThat(document.color()).isEqualTo(Color.RED);
        assertThat(document.code()).isEmpty();
        assertThat(document.title()).isEmpty();
        assertThat(document.subtitle()).isEmpty();
        assertThat(document.blob()).isEmpty();
        assertThat(document.thumbnail()).isEmpty();
        assertThat(document.editor()).isEmpty();
        assertThat(document.tags()).isEmpty();
        assertThat(document.next().isNull()).isTrue();
        assertThat(document.scores().toArray()).containsExactly(0, 0, 0);
        assertThat(document.neighbours().isNull(0)).isTrue();
        assertThrown(RefException.class, document::author, "Document.author", "null", "Optional");
    }

    @Test
    void shouldForgetOptionalFieldsThatAreSetToEmpty() {
        document.subtitle(Optional.of("sub"));
        document.thumbnail(Optional.of(new byte[1]));
        document.editor(Optional.of(AUTHOR.create(scope)));
        document.next(SharedObject.toRef(document));

        document.subtitle(Optional.empty());
        document.thumbnail(Optional.empty());
        document.editor(Optional.empty());
        document.next(Ref.nullRef());

        assertThat(document.subtitle()).isEmpty();
        assertThat(document.thumbnail()).isEmpty();
        assertThat(document.editor()).isEmpty();
        assertThat(document.next().isNull()).isTrue();
        assertThat(document.next(document)).isFalse();
        assertThat(document.editor(AUTHOR.flyweight())).isFalse();
    }

    @Test
    void shouldKeepPartsInPlace() {
        document.position().x(7).y(-7).label("here");
        document.scores().copyFrom(new long[] {1, 2, 3}, 0, 0, 3);
        document.digest().set(4, (byte) 9);
        document.neighbours().set(1, document);

        Document received = received();
        assertThat(received.position().x()).isEqualTo(7);
        assertThat(received.position().y()).isEqualTo(-7);
        assertThat(received.position().label()).isEqualTo("here");
        assertThat(received.scores().toArray()).containsExactly(1, 2, 3);
        assertThat(received.digest().toArray()).containsExactly(0, 0, 0, 0, 9);
        assertThat(received.neighbours().get(1)).isEqualTo(document);
        assertThat(received.neighbours().length()).isEqualTo(2);
        assertThat(received.level()).isZero();
    }

    @Test
    void shouldRefuseTheRefOfAPartInPlace() {
        assertThrown(
                IllegalArgumentException.class,
                () -> SharedObject.refOf(document.position()),
                "Point",
                "inside Ref(",
                "no Ref of its own");
        assertThat(document.position()).isEqualTo(document.position()).isNotEqualTo(document);
    }

    @Test
    void shouldFollowReferences() {
        Author author = AUTHOR.create(scope).name("Ada");
        document.author(author);
        document.editor(Optional.of(author));
        document.next(SharedObject.toRef(document));

        Document received = received();
        assertThat(received.author().name()).isEqualTo("Ada");
        assertThat(received.editor()).contains(author);
        assertThat(received.next()).isEqualTo(SharedObject.toRef(document));
        Author cursor = AUTHOR.flyweight();
        assertThat(received.editor(cursor)).isTrue();
        assertThat(cursor).isEqualTo(author);
        assertThat(received.next(received)).isTrue();
        assertThat(DOCUMENT.move(received, received.next())).isTrue();
        assertThat(received).isEqualTo(document).hasSameHashCodeAs(document);
        assertThat(received.toString()).startsWith("Document at Ref(");
    }

    @Test
    void shouldRefuseNullWithTheNameOfTheField() {
        assertThrown(NullPointerException.class, () -> document.author(null), "Document.author");
        assertThatNullPointerException().isThrownBy(() -> document.title(null)).withMessageContaining("Document.title");
        assertThatNullPointerException().isThrownBy(() -> document.code(null)).withMessageContaining("Document.code");
        assertThatNullPointerException().isThrownBy(() -> document.color(null)).withMessageContaining("Document.color");
        assertThatNullPointerException().isThrownBy(() -> document.blob(null)).withMessageContaining("Document.blob");
        assertThrown(NullPointerException.class, () -> document.next((Ref<Document>) null), "Document.next");
    }

    @Test
    void shouldRefuseObjectsThatAreNotShared() {
        Author onHeap = new Author() {
            @Override
            public String name() {
                return "";
            }

            @Override
            public Author name(String value) {
                return this;
            }

            @Override
            public SharedList<Document> works() {
                throw new UnsupportedOperationException();
            }

            @Override
            public Author works(SharedList<Document> value) {
                return this;
            }
        };
        assertThrown(IllegalArgumentException.class, () -> document.author(onHeap), "no shared object");
    }

    @Test
    void shouldRefuseAFixedStringThatIsTooLong() {
        document.code("1234567");
        assertThrown(
                IllegalArgumentException.class, () -> document.code("123456\u00e9"), "Document.code", "8 bytes", "7");
        assertThat(document.code()).isEqualTo("1234567");
    }

    @Test
    void shouldSetInPlaceButNotAllocateOnAReceivedObject() {
        Document received = received();
        received.id(5).year(6);
        received.color(Color.GREEN);
        received.code("code");
        received.next(SharedObject.toRef(received));
        assertThat(document.id()).isEqualTo(5);
        assertThat(document.code()).isEqualTo("code");
        assertThrown(ScopeException.class, () -> received.title("x"), "Document.title", "scope");
        assertThatExceptionOfType(ScopeException.class).isThrownBy(() -> received.blob(new byte[1]));
    }

    @Test
    void shouldAllocateInTheScopeOfTheFlyweightThatLedThere() {
        document.author(AUTHOR.create(scope));
        document.author().name("Grace");
        Document attached = DOCUMENT.attach(scope, SharedObject.toRef(document));
        attached.title("given");
        assertThat(document.author().name()).isEqualTo("Grace");
        assertThat(document.title()).isEqualTo("given");
    }

    @Test
    void shouldNotAttachToAnotherType() {
        long ref = SharedObject.refOf(document);
        assertThrown(
                RefException.class,
                () -> AUTHOR.attach(scope.space(), ref),
                Ref.describe(ref),
                AUTHOR.name(),
                DOCUMENT.name());
    }

    @Test
    void shouldNotAttachToMemoryWithoutObject() {
        long ref = scope.allocate(DOCUMENT.bytes());
        assertThrown(RefException.class, () -> DOCUMENT.attach(scope.space(), ref), "holds no object");
    }

    @Test
    void shouldNotAttachBetweenObjects() {
        long ref = SharedObject.refOf(document) + 4;
        assertThatExceptionOfType(RefException.class).isThrownBy(() -> DOCUMENT.attach(scope.space(), ref));
    }

    @Test
    void shouldNotAttachToAnObjectWithADamagedSize() {
        long ref = SharedObject.refOf(document);
        RefSpace space = scope.space();
        for (int bytes : new int[] {0, 8, DOCUMENT.bytes() - 8, DOCUMENT.bytes() + 4, -1, Integer.MAX_VALUE}) {
            space.memory(ref).set(ObjectLayout.LONG, space.offset(ref), ObjectLayout.header(DOCUMENT.typeId(), bytes));
            assertThrown(RefException.class, () -> DOCUMENT.attach(space, ref), "damaged");
        }
    }

    /** A later version has fields behind those that this one knows. */
    @Test
    void shouldAttachToAnObjectOfALaterVersion() {
        long ref = SharedObject.refOf(document);
        RefSpace space = scope.space();
        space.memory(ref)
                .set(
                        ObjectLayout.LONG,
                        space.offset(ref),
                        ObjectLayout.header(DOCUMENT.typeId(), DOCUMENT.bytes() + 8));
        assertThat(SharedObject.refOf(DOCUMENT.attach(space, ref))).isEqualTo(ref);
    }

    private Release release(int bytes) {
        Release whole = RELEASE.create(scope).id(1).size(2).stamp(3).note("four");
        long ref = SharedObject.refOf(whole);
        RefSpace space = scope.space();
        space.memory(ref).set(ObjectLayout.LONG, space.offset(ref), ObjectLayout.header(RELEASE.typeId(), bytes));
        return RELEASE.attach(space, ref);
    }

    @Test
    void shouldReadTheFieldsThatAnObjectsVersionHas() {
        Release first = release(16);
        assertThat(first.id()).isEqualTo(1);
        assertThat(first.size() + first.stamp()).isZero();
        assertThat(first.note()).isEmpty();
        assertThrown(UnsupportedOperationException.class, () -> first.size(1), "Release.size", "older version");
        Release second = release(32);
        assertThat(second.size() + second.stamp()).isEqualTo(5);
        assertThat(second.note()).isEmpty();
        assertThrown(UnsupportedOperationException.class, () -> second.note("x"), "Release.note", "32 bytes");
        assertThat(release(40).note()).isEqualTo("four");
        assertThat(release(48).note()).as("of a later version").isEqualTo("four");
    }

    @Test
    void shouldRefuseSizesThatNoVersionHas() {
        assertThat(RELEASE.bytes()).isEqualTo(40);
        for (int bytes : new int[] {0, 8, 15, 17, 20, 24, 28, 36, 41, 44, -8, Integer.MAX_VALUE, 1 << 30}) {
            assertThrown(RefException.class, () -> release(bytes), "damaged");
        }
    }

    @Test
    void shouldReportAnOrdinalThatNoConstantHas() {
        RefSpace space = scope.space();
        long ref = SharedObject.refOf(document);
        fill(space, ref, DOCUMENT.bytes());
        Document received = DOCUMENT.attach(space, ref);
        assertThrown(SharedDataException.class, received::color, "Document.color", "65535", "3 constants");
        assertThrown(SharedDataException.class, received::code, "Document.code");
        assertThatExceptionOfType(RefException.class).isThrownBy(received::title);
        assertThatExceptionOfType(RefException.class).isThrownBy(received::author);
    }

    @Test
    void shouldCheckOrdinalsAndLengthsToTheLastValue() {
        RefSpace space = scope.space();
        long ref = SharedObject.refOf(document);
        long color = space.offset(ref) + TestMemory.offsetOf(DOCUMENT, "color");
        long code = space.offset(ref) + TestMemory.offsetOf(DOCUMENT, "code");
        space.memory(ref).set(ObjectLayout.CHAR, color, (char) 2);
        space.memory(ref).set(ObjectLayout.CHAR, code, (char) 7);
        assertThat(document.color()).isEqualTo(Color.BLUE);
        assertThat(document.code()).hasSize(7);
        space.memory(ref).set(ObjectLayout.CHAR, color, (char) 3);
        space.memory(ref).set(ObjectLayout.CHAR, code, (char) 8);
        assertThatExceptionOfType(SharedDataException.class).isThrownBy(document::color);
        assertThatExceptionOfType(SharedDataException.class).isThrownBy(document::code);
    }

    @Test
    void shouldStayWhereItIsWhenAMoveFails() {
        Document cursor = received();
        RefSpace space = scope.space();
        long author = SharedObject.refOf(AUTHOR.create(scope));
        assertThatExceptionOfType(RefException.class).isThrownBy(() -> DOCUMENT.move(cursor, space, author));
        assertThat(DOCUMENT.move(cursor, Ref.nullRef())).isFalse();
        assertThat(cursor).isEqualTo(document);
    }

    @Test
    void shouldRefuseAccessBeforeTheFirstMove() {
        Document unattached = DOCUMENT.flyweight();
        assertThatIllegalStateException().isThrownBy(unattached::id).withMessageContaining("on no object yet");
        assertThrown(IllegalStateException.class, () -> unattached.title("x"), "on no object yet");
        assertThatIllegalStateException().isThrownBy(unattached::position).withMessageContaining("on no object yet");
        assertThrown(IllegalArgumentException.class, () -> SharedObject.refOf(unattached), "on no object yet");
        assertThat(unattached).hasToString("Document on no object").isEqualTo(unattached);
    }

    @Test
    void shouldNotFollowRefsIntoAClosedScope() {
        Scope other = scope.arena().newScope();
        Author author = other.create(Author.class).name("gone");
        document.author(author);
        assertThat(SharedObject.liveRefOf(author)).isEqualTo(SharedObject.refOf(author));
        other.close();
        assertThatExceptionOfType(RefException.class).isThrownBy(() -> SharedObject.liveRefOf(author));
        assertThrown(RefException.class, document::author, "scope was closed");
        assertThatExceptionOfType(RefException.class).isThrownBy(author::name);
        assertThatExceptionOfType(ScopeException.class).isThrownBy(() -> other.create(Author.class));
    }

    /** Its toString reads the memory that the exception is about. */
    @Test
    void shouldNameATextWhoseMemoryIsGone() {
        Scope other = memory.scope();
        SharedString text = SharedString.create(other, "text");
        other.close();
        assertThatExceptionOfType(RefException.class)
                .isThrownBy(text::length)
                .withMessageContaining("SharedString at ")
                .withMessageContaining("was used after its memory was freed");
        assertThatExceptionOfType(RefException.class).isThrownBy(text::toString);
        assertThatIllegalStateException()
                .isThrownBy(SharedString.TYPE.flyweight()::toString)
                .withMessageContaining("SharedString on no object");
    }

    @Test
    void shouldMakeObjectsThroughTheScope() {
        document.body(SharedString.create(scope, "text"));
        document.children(SharedList.create(scope, Document.class));
        document.children().add(document);
        document.byName(SharedStringMap.create(scope, Document.class));
        document.byName().put("self", document);
        SharedLongMap<Document> byId = SharedLongMap.create(scope, Document.class);
        byId.put(7, document);
        Document copy = DeepCopy.DEFAULT.copy(document, scope);
        assertThat(copy).isNotEqualTo(document);
        assertThat(copy.body()).hasToString("text");
        assertThat(copy.children()).containsExactly(copy);
        assertThat(copy.byName().get("self")).contains(copy);
        assertThat(byId.get(7)).contains(document);
    }

    @Test
    void shouldCallDefaultMethodsOfTheInterface() {
        document.id(3).title("t");
        assertThat(document.heading()).isEqualTo("3 t");
        assertThat(Document.firstYear()).isEqualTo(1970);
    }

    @Test
    void shouldTellPartsOfDifferentObjectsApart() {
        Document other = DOCUMENT.create(scope);
        Point point = document.position();
        assertThat(point).isNotEqualTo(other.position());
        assertThat(point).isEqualTo(received().position());
    }

    private static void fill(RefSpace space, long ref, int bytes) {
        space.memory(ref)
                .asSlice(space.offset(ref) + ObjectLayout.HEADER_BYTES, bytes - ObjectLayout.HEADER_BYTES)
                .fill((byte) 0xff);
    }

    /** The document as a peer sees it, without a scope. */
    private Document received() {
        return DOCUMENT.attach(scope.space(), SharedObject.refOf(document));
    }
}
