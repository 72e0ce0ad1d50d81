package dev.rackcall.shm.types;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeException;
import dev.rackcall.shm.TestMemory;
import dev.rackcall.shm.sample.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Objects that are created with a flyweight that the caller has already, and the fast path of their text. */
class CreateIntoTest {
    private static final SharedType<Document> DOCUMENT = SharedType.of(Document.class);
    /** Longer than the text that is copied without the JDK's encoder. */
    private static final int LONGEST = 140;

    private final TestMemory memory = TestMemory.create(4 << 20);
    private final Scope scope = memory.scope();

    @AfterEach
    void close() {
        memory.close();
    }

    @Test
    void shouldMoveTheFlyweightToANewObject() {
        Document flyweight = DOCUMENT.create(scope).id(7);
        long first = SharedObject.refOf(flyweight);
        DOCUMENT.create(scope, flyweight);
        assertThat(SharedObject.refOf(flyweight)).isNotEqualTo(first);
        assertThat(flyweight.id()).isZero();
        flyweight.id(8);
        assertThat(DOCUMENT.attach(scope.space(), first).id()).isEqualTo(7);
        assertThat(SharedObject.scopeOf(flyweight)).containsSame(scope);
    }

    @Test
    void shouldLeaveTheFlyweightWhereItWasIfTheScopeIsClosed() {
        Document flyweight = DOCUMENT.create(scope).id(7);
        Scope closed = memory.arena().newScope();
        closed.close();
        assertThatThrownBy(() -> DOCUMENT.create(closed, flyweight)).isInstanceOf(ScopeException.class);
        assertThat(flyweight.id()).isEqualTo(7);
    }

    @Test
    @SuppressWarnings({"unchecked", "rawtypes"}) // as erased code could call it
    void shouldRefuseAFlyweightOfAnotherType() {
        SharedString text = SharedString.create(scope, "text");
        assertThatThrownBy(() -> ((SharedType) DOCUMENT).create(scope, text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("SharedString");
        assertThat(text).hasToString("text");
    }

    @Test
    void shouldCreateArraysAndTextWithFlyweights() {
        SharedArray<Document> array = SharedArray.create(scope, DOCUMENT, 1);
        array.set(0, DOCUMENT.create(scope));
        SharedArray.create(scope, 3, array);
        assertThat(array.length()).isEqualTo(3);
        assertThat(array.isNull(0)).isTrue();
        assertThatThrownBy(() -> SharedArray.create(scope, -1, array)).isInstanceOf(IllegalArgumentException.class);
        SharedString text = SharedString.create(scope, "before");
        SharedString.create(scope, "größe 火山", text);
        assertThat(text).hasToString("größe 火山");
    }

    @Test
    void shouldKeepTextOfAnyLengthWithAnyCharacterAnywhere() {
        SharedString into = SharedString.TYPE.flyweight();
        String ascii = "0123456789abcdefghijklmnopqrstuvwxyz".repeat(4);
        for (int length = 0; length <= LONGEST; length++) {
            assertKept(ascii.substring(0, length), into);
            for (int at = 0; at < length; at++) {
                StringBuilder text = new StringBuilder(ascii.substring(0, length));
                text.setCharAt(at, "\u0080\u00e9\u7fff\u0000".charAt(at & 3));
                assertKept(text.toString(), into);
            }
        }
    }

    private void assertKept(String text, SharedString into) {
        scope.reset();
        SharedString.create(scope, text, into);
        assertThat(into.toString()).isEqualTo(text);
        assertThat(SharedString.create(scope, text).toString()).isEqualTo(text);
        assertThat(SharedString.read(scope.space(), SharedString.store(scope, text)))
                .isEqualTo(text);
    }

    @Test
    void shouldMakeOneTypeOfEachContainer() {
        assertThat(SharedArray.typeOf(DOCUMENT)).isSameAs(SharedArray.typeOf(DOCUMENT));
        assertThat(SharedList.typeOf(DOCUMENT)).isSameAs(SharedList.typeOf(DOCUMENT));
        assertThat(SharedLongMap.typeOf(DOCUMENT)).isSameAs(SharedLongMap.typeOf(DOCUMENT));
        assertThat(SharedStringMap.typeOf(DOCUMENT)).isSameAs(SharedStringMap.typeOf(DOCUMENT));
    }
}
