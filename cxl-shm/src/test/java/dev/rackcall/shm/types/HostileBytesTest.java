package dev.rackcall.shm.types;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TestMemory;
import dev.rackcall.shm.sample.Author;
import dev.rackcall.shm.sample.Document;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A peer overwrites a graph of shared objects. Every read must end, in bounded time, with a value or a documented
 * exception.
 */
class HostileBytesTest {
    private static final SharedType<Document> DOCUMENT = SharedType.of(Document.class);
    private static final SharedType<Author> AUTHOR = SharedType.of(Author.class);
    private static final int SEEDS = 800;
    private static final int MAX_READS = 2_000;

    private final TestMemory memory = TestMemory.create(1 << 20);
    private final TestMemory otherMemory = TestMemory.create(32 << 20);
    private final Scope scope = memory.scope();
    private final RefSpace space = scope.space();
    private final List<Long> refs = new ArrayList<>();
    private Document root;
    private MemorySegment graph;
    private int reads;
    private int refused;

    @BeforeEach
    void build() {
        root = document(0);
        SharedList<Document> children = SharedList.create(scope, DOCUMENT);
        root.children(children);
        root.byName(SharedStringMap.create(scope, DOCUMENT));
        SharedLongMap<SharedList<Document>> byYear = SharedLongMap.create(scope, SharedList.typeOf(DOCUMENT));
        root.byYear(byYear);
        for (int i = 1; i <= 12; i++) {
            Document child = document(i).next(SharedObject.toRef(root));
            children.add(child);
            root.byName().put("child" + i, child);
            byYear.put(i, children);
            child.author(AUTHOR.create(scope).name("author" + i).works(children));
        }
        root.author(children.get(3).author());
        long first = space.offset(SharedObject.refOf(root));
        long last = space.offset(scope.allocate(Long.BYTES));
        graph = space.memory(SharedObject.refOf(root)).asSlice(first, last - first);
    }

    @AfterEach
    void close() {
        otherMemory.close();
        memory.close();
    }

    @Test
    void shouldReadAnythingOrRefuseIt() {
        long ref = SharedObject.refOf(root);
        byte[] sane = graph.toArray(ObjectLayout.BYTE);
        for (long seed = 0; seed < SEEDS; seed++) {
            scribble(new Random(seed), 1 + (int) (seed % 60));
            try {
                readAll(DOCUMENT.attach(space, ref));
            } catch (RefException e) {
                refused++; // the root itself was hit
            } catch (RuntimeException | Error e) {
                fail("seed " + seed, e);
            }
            graph.copyFrom(MemorySegment.ofArray(sane));
        }
        assertThat(refused).as("nothing was refused: the test hits nothing").isGreaterThan(SEEDS / 10);
    }

    @Test
    void shouldCopyAnythingOrRefuseIt() {
        byte[] sane = graph.toArray(ObjectLayout.BYTE);
        int copied = 0;
        for (long seed = 0; seed < SEEDS / 4; seed++) {
            scribble(new Random(seed), 1 + (int) (seed % 20));
            try {
                DeepCopy.limitedTo(500, 60_000).copy(root, otherMemory.scope());
                copied++;
            } catch (RefException | SharedDataException e) {
                refused++;
            } catch (RuntimeException | Error e) {
                fail("seed " + seed, e);
            }
            graph.copyFrom(MemorySegment.ofArray(sane));
        }
        assertThat(copied).isPositive();
        assertThat(refused).isPositive();
    }

    @Test
    void shouldChangeOnlyWhatBelongsToTheGraph() {
        ArenaTable both = ArenaTable.create();
        both.add(scope.arena());
        both.add(otherMemory.scope().arena());
        byte[] sane = graph.toArray(ObjectLayout.BYTE);
        byte[] around = around();
        try (Scope writer = otherMemory.scope().arena().newScope(4096, both)) {
            for (long seed = 0; seed < SEEDS / 4; seed++) {
                Random random = new Random(seed);
                scribble(random, 1 + (int) (seed % 40));
                long ref = refs.get(random.nextInt(refs.size()));
                try {
                    Document document = DOCUMENT.attach(writer, new Ref<>(ref));
                    for (int i = 0; i < 30; i++) {
                        writeOne(document, random);
                    }
                } catch (RefException e) {
                    refused++; // the object itself was hit
                } catch (RuntimeException | Error e) {
                    fail("seed " + seed, e);
                }
                graph.copyFrom(MemorySegment.ofArray(sane));
                assertThat(around())
                        .as("seed %d: memory outside the graph", seed)
                        .isEqualTo(around);
                writer.reset();
            }
        }
        assertThat(refused).isPositive();
    }

    private byte[] around() {
        MemorySegment arena = scope.arena().memory();
        long from = graph.address() - arena.address();
        MemorySegment before = arena.asSlice(Arena.PAGE_BYTES, from - Arena.PAGE_BYTES);
        MemorySegment behind =
                arena.asSlice(from + graph.byteSize(), scope.arena().reservedBytes() - from - graph.byteSize());
        byte[] all = new byte[(int) (before.byteSize() + behind.byteSize())];
        MemorySegment.copy(before, ObjectLayout.BYTE, 0, all, 0, (int) before.byteSize());
        MemorySegment.copy(behind, ObjectLayout.BYTE, 0, all, (int) before.byteSize(), (int) behind.byteSize());
        return all;
    }

    private void writeOne(Document document, Random random) {
        int value = random.nextInt(20);
        guarded(() -> {
            switch (random.nextInt(11)) {
                case 0 -> document.children().add(document);
                case 1 -> document.children().add(value, document);
                case 2 -> document.children().removeAt(value);
                case 3 -> document.children().set(value, document);
                case 4 -> document.pages().add(value);
                case 5 -> document.byName().put("child" + value, document);
                case 6 -> document.byName().remove("child" + value);
                case 7 -> document.byYear().put(value, document.children());
                case 8 -> document.byYear().remove(value);
                case 9 -> document.author().name("name");
                default -> document.byName().clear();
            }
            return value;
        });
    }

    /** The same while the peer keeps writing, also between a check and the use of the checked value. */
    @Test
    void shouldReadAnythingWhileItChanges() throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        Thread peer = Thread.ofPlatform().daemon().start(() -> {
            byte[] sane = graph.toArray(ObjectLayout.BYTE);
            Random random = new Random(7);
            while (!done.get()) {
                scribble(random, 20);
                graph.copyFrom(MemorySegment.ofArray(sane));
            }
        });
        try {
            for (int round = 0; round < 300; round++) {
                try {
                    readAll(DOCUMENT.attach(space, refs.get(round % refs.size())));
                } catch (RefException | SharedDataException e) {
                    refused++;
                }
            }
        } finally {
            done.set(true);
            peer.join(100_000);
        }
        assertThat(peer.isAlive()).isFalse();
    }

    private void readAll(Document document) {
        reads = 0;
        List<Document> open = new ArrayList<>(List.of(document));
        while (!open.isEmpty() && reads < MAX_READS) {
            readOne(open.remove(open.size() - 1), open);
        }
    }

    private void readOne(Document document, List<Document> open) {
        guarded(document::id);
        guarded(document::color);
        guarded(document::code);
        guarded(document::title);
        guarded(document::subtitle);
        guarded(document::blob);
        guarded(document::thumbnail);
        guarded(() -> document.body().contentEquals("body"));
        guarded(() -> document.position().label());
        guarded(() -> document.scores().toArray());
        guarded(() -> document.embedding().toArray());
        guarded(() -> document.pages().toArray());
        guarded(() -> document.times().size());
        guarded(() -> document.measures().get(0));
        guarded(() -> open.add(document.neighbours().get(0)));
        guarded(() -> document.next(DOCUMENT.flyweight()));
        guarded(() -> document.tags().map(tags -> String.join(",", texts(tags))));
        guarded(() -> walk(document.author().works(), open));
        guarded(() -> walk(document.children(), open));
        guarded(() -> document.byName().get("child3"));
        guarded(() -> document.byName().containsKey(document.body()));
        guarded(() -> walk(document.byName(), open));
        guarded(() -> document.byYear().get(3));
        guarded(() -> walk(document.byYear(), open));
    }

    private int walk(SharedList<Document> list, List<Document> open) {
        for (int i = 0, size = list.size(); i < size && reads < MAX_READS; i++) {
            int index = i;
            guarded(() -> open.size() < 50 && open.add(list.get(index)));
        }
        return list.size();
    }

    private int walk(SharedStringMap<Document> map, List<Document> open) {
        int count = 0;
        for (SharedStringMap.Cursor<Document> cursor = map.cursor(); cursor.next() && reads < MAX_READS; count++) {
            guarded(() -> cursor.key().toString());
            guarded(() -> open.size() < 50 && open.add(cursor.value()));
        }
        return count;
    }

    private int walk(SharedLongMap<SharedList<Document>> map, List<Document> open) {
        int count = 0;
        for (SharedLongMap.Cursor<SharedList<Document>> cursor = map.cursor();
                cursor.next() && reads < MAX_READS;
                count++) {
            guarded(() -> walk(cursor.value(), open));
        }
        return count;
    }

    private List<String> texts(SharedList<SharedString> list) {
        List<String> texts = new ArrayList<>();
        for (int i = 0, size = list.size(); i < size && reads < MAX_READS; i++) {
            int index = i;
            guarded(() -> texts.add(list.get(index).toString()));
        }
        return texts;
    }

    /** While the peer writes, an index or an entry may vanish between two reads. Nothing else is allowed. */
    private void guarded(Callable<?> read) {
        reads++;
        try {
            read.call();
        } catch (RefException | SharedDataException | OutOfArenaException e) {
            refused++;
        } catch (IndexOutOfBoundsException | ConcurrentModificationException | NoSuchElementException e) {
            assertThat(e.getStackTrace())
                    .noneMatch(frame -> frame.getClassName().contains("MemorySegment"));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void scribble(Random random, int times) {
        for (int i = 0; i < times; i++) {
            long at = random.nextInt((int) graph.byteSize() / Long.BYTES) * (long) Long.BYTES;
            long other = random.nextInt((int) graph.byteSize() / Long.BYTES) * (long) Long.BYTES;
            switch (random.nextInt(7)) {
                case 0 -> graph.set(ObjectLayout.LONG, at, random.nextLong());
                case 1 -> graph.set(ObjectLayout.BYTE, at + random.nextInt(Long.BYTES), (byte) random.nextInt());
                case 2 -> graph.set(ObjectLayout.LONG, at, graph.get(ObjectLayout.LONG, other));
                case 3 -> graph.set(ObjectLayout.LONG, at, refs.get(random.nextInt(refs.size())));
                case 4 -> graph.set(ObjectLayout.LONG, at, refs.get(0) + other);
                case 5 -> graph.set(ObjectLayout.INT, at + 4L * random.nextInt(2), random.nextInt(1 << 16));
                default ->
                    graph.set(ObjectLayout.INT, at + 4L * random.nextInt(2), Integer.MAX_VALUE - random.nextInt(16));
            }
        }
    }

    private Document document(int i) {
        Document document = DOCUMENT.create(scope).id(i).title("title" + i);
        refs.add(SharedObject.refOf(document));
        document.code("c" + i);
        document.blob(new byte[] {1, 2, 3});
        document.subtitle(Optional.of("subtitle"));
        document.thumbnail(Optional.of(new byte[] {4}));
        document.body(SharedString.create(scope, "body"));
        document.position().label("label");
        document.embedding(SharedFloatArray.copyOf(scope, 1, 2, 3));
        document.pages(SharedIntList.create(scope));
        document.pages().add(i);
        document.times(SharedLongList.create(scope));
        document.measures(SharedDoubleList.create(scope));
        document.measures().add(i);
        SharedList<SharedString> tags = SharedList.create(scope, SharedString.TYPE);
        tags.add(SharedString.create(scope, "tag" + i));
        document.tags(Optional.of(tags));
        document.neighbours().set(0, document);
        return document;
    }
}
