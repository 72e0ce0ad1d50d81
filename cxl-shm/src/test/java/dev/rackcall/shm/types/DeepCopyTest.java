package dev.rackcall.shm.types;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TestMemory;
import dev.rackcall.shm.sample.Author;
import dev.rackcall.shm.sample.Color;
import dev.rackcall.shm.sample.Document;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DeepCopyTest {
    private static final SharedType<Document> DOCUMENT = SharedType.of(Document.class);
    private static final SharedType<Author> AUTHOR = SharedType.of(Author.class);

    private final TestMemory memory = TestMemory.create(64 << 20);
    private final TestMemory otherMemory = TestMemory.create(64 << 20);
    private final Scope scope = memory.scope();
    private final Scope target = otherMemory.scope();

    @AfterEach
    void close() {
        otherMemory.close();
        memory.close();
    }

    @Test
    void shouldCopyEveryKindOfField() {
        Document original = full();
        Document copy = DeepCopy.DEFAULT.copy(original, target);
        wipe(original);

        assertThat(Ref.arenaId(SharedObject.refOf(copy))).isNotEqualTo(Ref.arenaId(SharedObject.refOf(original)));
        assertThat(copy.id()).isEqualTo(1);
        assertThat(copy.color()).isEqualTo(Color.GREEN);
        assertThat(copy.code()).isEqualTo("code");
        assertThat(copy.title()).isEqualTo("title");
        assertThat(copy.subtitle()).contains("sub");
        assertThat(copy.blob()).containsExactly(1, 2);
        assertThat(copy.thumbnail().orElseThrow()).containsExactly(3);
        assertThat(copy.body()).hasToString("body");
        assertThat(copy.position().label()).isEqualTo("here");
        assertThat(copy.scores().toArray()).containsExactly(4, 5, 6);
        assertThat(copy.embedding().toArray()).containsExactly(0.5f);
        assertThat(copy.pages().toArray()).containsExactly(7);
        assertThat(copy.times().toArray()).containsExactly(8);
        assertThat(copy.measures().toArray()).containsExactly(9);
        assertThat(copy.author().name()).isEqualTo("Ada");
        assertThat(copy.editor()).contains(copy.author());
        assertThat(copy.tags().orElseThrow().get(0)).hasToString("tag");
        assertThat(copy.next()).isEqualTo(SharedObject.toRef(copy));
        assertThat(copy.neighbours().get(1)).isEqualTo(copy);
        assertThat(copy.children().get(0)).isEqualTo(copy);
        assertThat(copy.byName().get("self")).contains(copy);
        assertThat(copy.byYear().get(1970).orElseThrow()).isEqualTo(copy.children());
        assertThat(copy.author().works()).isEqualTo(copy.children());
        copy.byName().put("other", copy);
        copy.title("changed");
        assertThat(copy.byName().size()).isEqualTo(2);
    }

    @Test
    void shouldCopyASharedNodeOnce() {
        Document top = DOCUMENT.create(scope);
        Document left = DOCUMENT.create(scope);
        Document right = DOCUMENT.create(scope);
        Document bottom = DOCUMENT.create(scope).title("bottom");
        top.neighbours().set(0, left);
        top.neighbours().set(1, right);
        left.next(SharedObject.toRef(bottom));
        right.next(SharedObject.toRef(bottom));

        Document copy = DeepCopy.DEFAULT.copy(top, target);
        assertThat(copy.neighbours().get(0).next())
                .isEqualTo(copy.neighbours().get(1).next());
        assertThat(copy.neighbours().get(0)).isNotEqualTo(copy.neighbours().get(1));
        assertThat(DOCUMENT.attach(target, copy.neighbours().get(0).next()).title())
                .isEqualTo("bottom");
    }

    @Test
    void shouldCopyACycle() {
        Document first = DOCUMENT.create(scope).id(1);
        Document second = DOCUMENT.create(scope).id(2).next(SharedObject.toRef(first));
        first.next(SharedObject.toRef(second));

        Document copy = DeepCopy.DEFAULT.copy(first, target);
        Document cursor = DOCUMENT.attach(target, copy.next());
        assertThat(cursor.id()).isEqualTo(2);
        assertThat(cursor.next()).isEqualTo(SharedObject.toRef(copy));
    }

    @Test
    void shouldCopyALongChainWithoutRecursion() {
        int length = 100_000;
        Document head = DOCUMENT.create(scope);
        Document last = head;
        for (int i = 1; i < length; i++) {
            Document next = DOCUMENT.create(scope).id(i);
            last.next(SharedObject.toRef(next));
            last = next;
        }
        Document cursor = DeepCopy.DEFAULT.copy(head, target);
        int count = 0;
        do {
            assertThat(cursor.id()).isEqualTo(count);
            count++;
        } while (DOCUMENT.move(cursor, cursor.next()));
        assertThat(count).isEqualTo(length);
    }

    @Test
    void shouldStopAtTheLimits() {
        Document first = DOCUMENT.create(scope);
        Document second = DOCUMENT.create(scope).next(SharedObject.toRef(first));
        first.next(SharedObject.toRef(second));
        assertThat(DeepCopy.limitedTo(2, 2L * DOCUMENT.bytes())
                        .copy(first, target)
                        .next()
                        .isNull())
                .isFalse();
        assertThrown(
                SharedDataException.class,
                () -> DeepCopy.limitedTo(1, 1 << 20).copy(first, target),
                "1 objects",
                "limitedTo");
        assertThrown(
                SharedDataException.class,
                () -> DeepCopy.limitedTo(10, 2L * DOCUMENT.bytes() - 1).copy(first, target));
        assertThatIllegalArgumentException().isThrownBy(() -> DeepCopy.limitedTo(0, 1));
    }

    @Test
    void shouldNotCopyAReferenceOfAnotherType() {
        Document document = DOCUMENT.create(scope);
        document.next(SharedObject.toRef(document));
        RefSpace space = scope.space();
        long ref = SharedObject.refOf(document);
        long authorField = TestMemory.offsetOf(DOCUMENT, "author");
        space.memory(ref).set(ObjectLayout.LONG, space.offset(ref) + authorField, ref);
        assertThrown(RefException.class, () -> DeepCopy.DEFAULT.copy(document, target), "Author");
    }

    @Test
    void shouldRefuseWhatHasNoRef() {
        Document document = DOCUMENT.create(scope);
        assertThatIllegalArgumentException().isThrownBy(() -> DeepCopy.DEFAULT.copy(document.position(), target));
        assertThatIllegalArgumentException().isThrownBy(() -> DeepCopy.DEFAULT.copy("text", target));
    }

    private Document full() {
        Document document = DOCUMENT.create(scope).id(1).title("title");
        document.color(Color.GREEN);
        document.code("code");
        document.subtitle(Optional.of("sub"));
        document.blob(new byte[] {1, 2});
        document.thumbnail(Optional.of(new byte[] {3}));
        document.body(SharedString.create(scope, "body"));
        document.position().label("here");
        document.scores().copyFrom(new long[] {4, 5, 6}, 0, 0, 3);
        document.embedding(SharedFloatArray.copyOf(scope, 0.5f));
        document.pages(SharedIntList.create(scope));
        document.pages().add(7);
        document.times(SharedLongList.create(scope));
        document.times().add(8);
        document.measures(SharedDoubleList.create(scope));
        document.measures().add(9);
        SharedList<Document> children = SharedList.create(scope, DOCUMENT);
        children.add(document);
        document.children(children);
        Author author = AUTHOR.create(scope).name("Ada").works(children);
        document.author(author);
        document.editor(Optional.of(author));
        SharedList<SharedString> tags = SharedList.create(scope, SharedString.TYPE);
        tags.add(SharedString.create(scope, "tag"));
        document.tags(Optional.of(tags));
        document.next(SharedObject.toRef(document));
        document.neighbours().set(1, document);
        document.byName(SharedStringMap.create(scope, DOCUMENT));
        document.byName().put("self", document);
        document.byYear(SharedLongMap.create(scope, SharedList.typeOf(DOCUMENT)));
        document.byYear().put(1970, children);
        return document;
    }

    /** After this, a reference from the copy into the original would be noticed. */
    private void wipe(Document original) {
        RefSpace space = scope.space();
        long ref = SharedObject.refOf(original);
        long from = space.offset(ref);
        long end = space.offset(scope.allocate(8));
        space.memory(ref).asSlice(from, end - from).fill((byte) 0);
    }
}
