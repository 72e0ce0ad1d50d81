package dev.rackcall.shm.types;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.sample.Author;
import dev.rackcall.shm.sample.Document;
import dev.rackcall.shm.sample.Point;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SharedTypeTest {
    /** Neither public nor top-level, so its flyweight is not public either. */
    @Shared
    interface Nested {
        int value();

        void value(int value);
    }

    @Test
    void shouldFindTheGeneratedType() {
        SharedType<Point> type = SharedType.of(Point.class);
        assertThat(type).isSameAs(SharedType.of(Point.class)).hasToString("dev.rackcall.shm.sample.Point");
        assertThat(type.type()).isEqualTo(Point.class);
        assertThat(type.bytes()).isEqualTo(24);
        assertThat(type.typeId()).isNotZero();
        assertThat(SharedType.of(Nested.class).bytes()).isEqualTo(16);
        assertThat(SharedType.of(SharedString.class)).isSameAs(SharedString.TYPE);
        assertThat(SharedType.of(SharedLongList.class)).isSameAs(SharedLongList.TYPE);
    }

    @Test
    void shouldExplainWhatIsMissing() {
        assertThrown(
                IllegalArgumentException.class,
                () -> SharedType.of(Runnable.class),
                "java.lang.Runnable_Shared",
                "@Shared",
                "annotationProcessorPaths");
        assertThrown(IllegalArgumentException.class, () -> SharedType.of(SharedList.class), "SharedList.typeOf");
    }

    @Test
    void shouldComputeTheSameNumbersAsTheProcessor() {
        for (SharedType<?> type :
                List.of(SharedType.of(Point.class), SharedType.of(Author.class), SharedType.of(Document.class))) {
            assertThat(type.fingerprint()).isEqualTo(ObjectLayout.fingerprint(type.description()));
            String ownLine = type.description().lines().findFirst().orElseThrow();
            // A later version may add constants, and its objects keep the number.
            String lasting = ownLine.replaceAll("(enum [^\\[]*)\\[[^]]*]", "$1");
            assertThat(type.typeId()).isEqualTo(ObjectLayout.typeId(lasting));
        }
    }

    @Test
    void shouldDescribeEverythingThatItCanReach() {
        assertThat(SharedType.of(Author.class).description().lines())
                .hasSize(3)
                .anyMatch(line -> line.startsWith("dev.rackcall.shm.sample.Author{"))
                .anyMatch(line -> line.startsWith("dev.rackcall.shm.sample.Document{"))
                .contains("dev.rackcall.shm.sample.Point{label:->SharedString@8, x:int@16, y:int@20}:24");
    }

    /** Document and Author refer to each other; initialising one must not wait for the other. */
    @Test
    void shouldInitialiseTypesThatReferToEachOtherFromTwoThreads() throws Exception {
        for (int round = 0; round < 30; round++) {
            ClassLoader loader = new FreshTypes();
            CyclicBarrier start = new CyclicBarrier(2);
            List<Thread> threads = new ArrayList<>();
            AtomicInteger ready = new AtomicInteger();
            for (String name : List.of("Document", "Author")) {
                threads.add(Thread.ofPlatform().daemon().start(() -> {
                    try {
                        Class<?> type = Class.forName("dev.rackcall.shm.sample." + name, false, loader);
                        start.await(50, TimeUnit.SECONDS);
                        SharedType.of(type).references();
                        ready.incrementAndGet();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join(50_000);
            }
            assertThat(ready).as("round %d", round).hasValue(2);
        }
    }

    /** Loads the test's shared types again, and other classes as usual. */
    private static final class FreshTypes extends ClassLoader {
        private FreshTypes() {
            super(FreshTypes.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                if (!name.startsWith("dev.rackcall.shm.sample.") || findLoadedClass(name) != null) {
                    return super.loadClass(name, resolve);
                }
                try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
                    byte[] bytes = file.readAllBytes();
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        }
    }

    @Test
    void shouldTellContainersOfDifferentElementsApart() {
        SharedType<SharedList<Author>> authors = SharedList.typeOf(SharedType.of(Author.class));
        SharedType<SharedList<Document>> documents = SharedList.typeOf(SharedType.of(Document.class));
        assertThat(authors.typeId()).isNotEqualTo(documents.typeId());
        assertThat(SharedList.typeOf(SharedType.of(Author.class)).typeId()).isEqualTo(authors.typeId());
        assertThat(SharedStringMap.typeOf(SharedString.TYPE).typeId())
                .isNotEqualTo(SharedLongMap.typeOf(SharedString.TYPE).typeId());
        assertThat(authors.name()).isEqualTo("SharedList<dev.rackcall.shm.sample.Author>");
    }
}
