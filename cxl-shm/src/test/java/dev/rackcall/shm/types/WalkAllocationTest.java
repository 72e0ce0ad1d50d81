package dev.rackcall.shm.types;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TestMemory;
import dev.rackcall.shm.sample.Document;
import dev.rackcall.testkit.Await;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Reading with reused flyweights allocates nothing once the code is compiled. */
class WalkAllocationTest {
    private static final SharedType<Document> DOCUMENT = SharedType.of(Document.class);
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int COUNT = 1_000;

    private final TestMemory memory = TestMemory.create(4 << 20);
    private final Scope scope = memory.scope();
    private final SharedList<Document> list = SharedList.create(scope, DOCUMENT);
    private final Document cursor = DOCUMENT.flyweight();

    WalkAllocationTest() {
        Document previous = null;
        for (int i = 0; i < COUNT; i++) {
            Document document = DOCUMENT.create(scope).id(i).year(1);
            list.add(document);
            if (previous != null) {
                previous.next(SharedObject.toRef(document));
            }
            previous = document;
        }
    }

    @AfterEach
    void close() {
        memory.close();
    }

    @Test
    void shouldWalkAListWithoutAllocating() {
        assertSettlesAtNothing(() -> {
            long sum = 0;
            for (int i = 0, size = list.size(); i < size; i++) {
                list.get(i, cursor);
                sum += cursor.year();
                cursor.id(sum);
            }
            return sum;
        });
    }

    @Test
    void shouldWalkAChainWithoutAllocating() {
        assertSettlesAtNothing(() -> {
            long sum = 0;
            list.get(0, cursor);
            do {
                sum += cursor.year();
            } while (cursor.next(cursor));
            return sum;
        });
    }

    @Test
    void shouldLookUpInMapsWithoutAllocating() {
        SharedLongMap<Document> byId = SharedLongMap.create(scope, DOCUMENT);
        SharedStringMap<Document> byName = SharedStringMap.create(scope, DOCUMENT);
        SharedArray<SharedString> names = SharedArray.create(scope, SharedString.TYPE, COUNT);
        for (int i = 0; i < COUNT; i++) {
            names.set(i, SharedString.create(scope, "name" + i));
            byId.put(i, list.get(i));
            byName.put(names.get(i), list.get(i));
        }
        SharedString name = SharedString.TYPE.flyweight();
        assertSettlesAtNothing(() -> {
            long sum = 0;
            for (int i = 0; i < COUNT; i++) {
                names.get(i, name);
                sum += byId.get(i, cursor) ? cursor.year() : 0;
                sum += byName.get(name, cursor) ? cursor.year() : 0;
            }
            return sum / 2;
        });
    }

    /**
     * Repeats rounds until one allocates nothing: code that is not compiled yet may allocate what the compiler later
     * removes. The compiler takes long on a machine that is busy with other things.
     */
    private static void assertSettlesAtNothing(LongSupplier round) {
        long start = System.nanoTime();
        long allocated = -1;
        while (allocated != 0 && System.nanoTime() - start < Await.BOUND.toNanos()) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            long sum = round.getAsLong();
            allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
            assertThat(sum).isEqualTo(COUNT);
        }
        assertThat(allocated).as("bytes in the last round").isZero();
    }
}
