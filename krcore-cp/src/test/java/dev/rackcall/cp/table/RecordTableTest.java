package dev.rackcall.cp.table;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.control.DcTarget;
import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.cp.table.TableReader.StaleTableException;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.QueuePair;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A table and a reader of it, on two devices. */
class RecordTableTest {
    private static final int EPOCH = 77;
    private static final int PAYLOAD_BYTES = 48;

    private HostDevice owner;
    private HostDevice other;
    private DcTarget target;
    private TableReader reader;

    @BeforeEach
    void open() {
        owner = new HostDevice(Hosts.device("owner"));
        other = new HostDevice(Hosts.device("other"));
        QueuePair served = owner.target(5, EnumSet.of(Access.REMOTE_READ));
        target = new DcTarget(other.keep(other.handleTo(owner.gid())), served.number(), DcTarget.key(5));
        reader = TableReader.ofAll(other);
    }

    @AfterEach
    void close() {
        other.close();
        owner.close();
    }

    private RecordTable table(int capacity) {
        return owner.keep(new RecordTable(owner.domain(), "the test's table", 64, capacity, EPOCH));
    }

    /** Each of the six words is this key. */
    private static byte[] payload(long word) {
        ByteBuffer buffer = ByteBuffer.allocate(PAYLOAD_BYTES).order(ByteOrder.nativeOrder());
        while (buffer.hasRemaining()) {
            buffer.putLong(word);
        }
        return buffer.array();
    }

    private Optional<Long> find(RecordTable table, long key) throws StaleTableException {
        return reader.find(target, table.location(), 64, key, payload -> {
            long word = payload.getLong();
            while (payload.hasRemaining()) {
                assertThat(payload.getLong())
                        .as("a record that was never written")
                        .isEqualTo(word);
            }
            return word;
        });
    }

    @Test
    void shouldBeReadByOthers() throws Exception {
        RecordTable table = table(100);
        table.put(1, payload(10));
        table.put(2, payload(20));
        table.put(1, payload(11));
        assertThat(find(table, 1)).contains(11L);
        assertThat(find(table, 2)).contains(20L);
        assertThat(find(table, 3)).isEmpty();
        assertThat(table.remove(1)).isTrue();
        assertThat(table.remove(1)).isFalse();
        assertThat(find(table, 1)).isEmpty();
        assertThat(table.count()).isEqualTo(1);
    }

    @Test
    void shouldTakeAsManyAsItSaysAndThenSaySo() {
        for (int seed = 0; seed < 5; seed++) {
            Random random = new Random(seed);
            // The worst case: exactly twice as many places as records.
            RecordTable table = table(8192);
            for (int i = 0; i < 8192; i++) {
                table.put(random.nextLong() | 1, payload(i));
            }
            Hosts.fails(
                    ControlPlaneException.Kind.TABLE_FULL,
                    "the test's table is full: all 8192 places",
                    () -> table.put(2, payload(1)));
        }
    }

    @Test
    void shouldHold10000HostsIn512BytesEachAndFindEachByOneRead() throws Exception {
        RecordTable table = table(10_000);
        for (int i = 1; i <= 10_000; i++) {
            table.put(TableLayout.mix(i), payload(i));
        }
        assertThat(table.byteSize() / 10_000).isLessThanOrEqualTo(512);
        for (int i = 1; i <= 10_000; i += 37) {
            assertThat(find(table, TableLayout.mix(i))).contains((long) i);
        }
        assertThat(reader.rounds()).as("one READ for each").isEqualTo(271);
    }

    @Test
    void shouldNeverShowATornRecord() throws Exception {
        RecordTable table = table(4);
        table.put(1, payload(0));
        AtomicBoolean stop = new AtomicBoolean();
        Thread writer = Thread.ofPlatform().start(() -> {
            for (long word = 1; !stop.get(); word++) {
                table.put(1, payload(word));
                table.put(2, payload(word));
                table.remove(2);
                Thread.yield();
            }
        });
        try {
            int seen = 0;
            for (int i = 0; i < 1_000; i++) {
                try {
                    seen += find(table, 1).isPresent() ? 1 : 0;
                } catch (StaleTableException torn) {
                    // The exception is constructed: a record that is torn in each read.
                    assertThat(torn).hasMessageContaining("torn");
                }
            }
            assertThat(seen).isPositive();
        } finally {
            stop.set(true);
            writer.join();
        }
    }

    @Test
    void shouldFindATornRecordOut() throws Exception {
        RecordTable table = table(4);
        table.put(1, payload(3));
        // What a READ may see during a write: half old, half new bytes.
        MemorySegment record =
                MemorySegment.ofAddress(table.location().address()).reinterpret(table.byteSize());
        for (long at = 0; at < table.byteSize(); at += 64) {
            if (TableLayout.key(record, at) == 1) {
                record.set(ValueLayout.JAVA_LONG, at + 40, 4);
            }
        }
        assertThrown(StaleTableException.class, () -> find(table, 1), "torn");
        table.put(1, payload(4));
        assertThat(find(table, 1)).contains(4L);
    }

    @Test
    void shouldTellTheTableOfAnotherLife() throws Exception {
        RecordTable table = table(4);
        table.put(1, payload(3));
        TableLocation now = table.location();
        TableLocation former = new TableLocation(now.address(), now.key(), now.log2Buckets(), EPOCH - 1);
        assertThrown(StaleTableException.class, () -> reader.find(target, former, 64, 1, ByteBuffer::getLong), "epoch");
        TableLocation elsewhere = new TableLocation(now.address(), now.key() + 1, now.log2Buckets(), EPOCH);
        assertThrown(
                StaleTableException.class,
                () -> reader.find(target, elsewhere, 64, 1, ByteBuffer::getLong),
                "REMOTE_ACCESS_ERROR");
        assertThat(find(table, 1)).as("the reader still works").contains(3L);
    }
}
