package dev.rackcall.rpc.runtime;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.shm.codec.ObjectCodec;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import dev.rackcall.testkit.Concurrently;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.net.URI;
import java.time.Instant;
import java.time.MonthDay;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.Currency;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class KryoCodecTest {
    private static final long SEED = Long.getLong("rackcall.seed", System.nanoTime());

    private final Arena arena = Arena.ofShared();
    private final ObjectCodec codec =
            KryoCodec.of(List.of(Node.class, Holder.class, TimeUnit.class, Node[].class, Words.class));

    @AfterEach
    void free() {
        arena.close();
    }

    /** No constructor without arguments, and links that may form a circle. */
    static final class Node {
        private final String name;
        private Node next;
        private final List<Node> others = new ArrayList<>();

        Node(String name) {
            this.name = name;
        }
    }

    /** One field of each sort. */
    static class Holder {
        int number = 1;
        Long box = 2L;
        double[] doubles = {3, 4};
        long[] longs = {5};
        String ascii = "plain";
        String text = "tëxt and 漢字";
        String nothing;
        Object any = TimeUnit.DAYS;
        List<Object> mixed = new ArrayList<>(Arrays.asList("a", null, 1, List.of("x", "y"), Arrays.asList(1, null)));
        Collection<String> deque = new ArrayDeque<>(List.of("d"));
        Map<String, Object> map = new LinkedHashMap<>(Map.of("k", Set.of(1, 2)));
        Map<Integer, String> sorted = new TreeMap<>(Map.of(2, "b", 1, "a"));
        Map<String, String> fixed = Map.of("f", "g");
        Optional<String> maybe = Optional.of("m");
        UUID uuid = new UUID(1, 2);
        BigDecimal decimal = new BigDecimal("1.50");
        Instant instant = Instant.ofEpochSecond(7, 8);
        BitSet bits = BitSet.valueOf(new long[] {9});
        List<Object> jdk = new ArrayList<>(List.of(
                URI.create("http://example.org/a?b"),
                Locale.CANADA,
                Period.ofDays(3),
                Currency.getInstance("EUR"),
                ZoneId.of("Asia/Tokyo"),
                ZoneOffset.ofHours(2),
                OffsetTime.MAX,
                Year.of(2024),
                YearMonth.of(2024, 2),
                MonthDay.of(2, 29)));
        Object[] array = {"o", new Object[] {1}};
        String[] strings = {"s", null};
        Node[] nodes = {new Node("n")};
        Words words = new Words("w");
    }

    /** A collection of the user's own. */
    @SuppressWarnings("serial") // Kryo knows nothing of it
    static final class Words extends ArrayList<String> {
        Words() {}

        Words(String word) {
            add(word);
        }
    }

    /** Registered nowhere. */
    static final class Stranger {}

    private PayloadWriter write(Object value) {
        PayloadWriter out = PayloadWriter.create((old, used, needed) -> {
                    MemorySegment larger = arena.allocate(needed);
                    MemorySegment.copy(old, 0, larger, 0, used);
                    return larger;
                })
                .objects(codec);
        out.begin(MemorySegment.NULL);
        out.writeObject(value, "value");
        return out;
    }

    private <T> T read(PayloadWriter out, Class<T> type) {
        PayloadReader in = PayloadReader.create().objects(codec);
        in.begin(out.buffer(), 0, out.length());
        T value = in.readObject(type);
        in.expectEnd();
        return value;
    }

    private Object read(byte[] encoded) {
        MemorySegment memory = arena.allocate(encoded.length + 4L);
        memory.set(ValueLayout.JAVA_INT_UNALIGNED, 0, encoded.length);
        MemorySegment.copy(encoded, 0, memory, ValueLayout.JAVA_BYTE, 4, encoded.length);
        PayloadReader in = PayloadReader.create().objects(codec);
        in.begin(memory, 0, memory.byteSize());
        return in.readObject(Object.class);
    }

    private static byte[] encoded(PayloadWriter out) {
        return out.buffer().asSlice(4, out.length() - 4).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void shouldCarryRegisteredClassesAndWhatTheyHold() {
        Holder holder = new Holder();
        Holder back = read(write(holder), Holder.class);
        assertThat(back).usingRecursiveComparison().isEqualTo(holder);
        assertThat(back.words).isInstanceOf(Words.class);
        assertThat(back.fixed).isUnmodifiable();
    }

    @Test
    void shouldKeepCirclesAndSharedObjects() {
        Node first = new Node("first");
        Node second = new Node("second");
        first.next = second;
        second.next = first;
        first.others.addAll(List.of(second, first));
        Node back = read(write(first), Node.class);
        assertThat(back.next.next).isSameAs(back);
        assertThat(back.others).containsExactly(back.next, back);
        assertThat(back.next.name).isEqualTo("second");
    }

    @Test
    void shouldSayWhereToRegister() {
        assertThrown(
                PayloadException.class,
                () -> write(new Stranger()),
                Stranger.class.getName() + " is not registered",
                "@RpcService(registered = ...)");
        Holder holder = new Holder();
        holder.any = new Stranger();
        assertThrown(
                PayloadException.class,
                () -> write(holder),
                "a " + Holder.class.getName() + " cannot be encoded: class " + Stranger.class.getName()
                        + " is not registered");
    }

    @Test
    void shouldRefuseComparators() {
        Holder holder = new Holder();
        holder.sorted = new TreeMap<>(Comparator.reverseOrder());
        assertThrown(PayloadException.class, () -> write(holder), "java.util.TreeMap with a comparator cannot travel");
        assertThatThrownBy(() -> write(new TreeSet<>(Comparator.<String>reverseOrder())))
                .hasMessageContaining("java.util.TreeSet with a comparator");
    }

    @Test
    void shouldBoundHowDeepObjectsNest() {
        Node head = new Node("0");
        for (int i = 0; i < 10_000; i++) {
            Node node = new Node("n");
            node.next = head;
            head = node;
        }
        Node deep = head;
        assertThatThrownBy(() -> write(deep)).isInstanceOf(PayloadException.class);
        assertThat(read(write(new Node("after it")), Node.class).name).isEqualTo("after it");
    }

    @Test
    void shouldRefuseEverythingWithoutClasses() {
        assertThat(KryoCodec.of(List.of())).isSameAs(ObjectCodec.NONE);
    }

    @Test
    void shouldServeManyThreadsAtATime() throws Exception {
        Concurrently.run(200, number -> {
            Node node = new Node("node " + number);
            assertThat(read(write(node), Node.class).name).isEqualTo(node.name);
        });
    }

    @Test
    void shouldNoticeTheEndWhereverItComes() {
        byte[] whole = encoded(write(new Holder()));
        assertThat(read(whole)).isInstanceOf(Holder.class);
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> read(cut))
                    .as("%d of %d bytes", length, whole.length)
                    .isInstanceOf(PayloadException.class);
        }
        assertThatThrownBy(() -> read(Arrays.copyOf(whole, whole.length + 1))).isInstanceOf(PayloadException.class);
    }

    /**
     * Whatever the bytes say, decoding ends in an object or an exception, and allocates no more than they can account
     * for.
     */
    @Test
    void shouldSurviveTamperedBytes() {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        Random random = new Random(SEED);
        Node node = new Node("first");
        node.next = new Node("second");
        node.others.addAll(List.of(node.next, node));
        byte[][] honest = {
            encoded(write(new Holder())),
            encoded(write(node)),
            encoded(write(new HashMap<>(Map.of("a", List.of(1, 2, 3))))),
            encoded(write(new Node[] {node, null})),
            encoded(write(new ArrayList<>(Arrays.asList(new String[50]))))
        };
        int refused = 0;
        for (int round = 0; round < 2_500; round++) {
            byte[] bytes = honest[random.nextInt(honest.length)].clone();
            for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
                bytes[random.nextInt(bytes.length)] = (byte) (random.nextBoolean() ? 0xff : random.nextInt());
            }
            int number = round;
            long before = threads.getCurrentThreadAllocatedBytes();
            try {
                read(bytes);
            } catch (PayloadException e) {
                refused++;
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + SEED + ", round " + round + ", " + Arrays.toString(bytes), e);
            }
            assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                    .as(() -> "bytes allocated, seed " + SEED + ", round " + number + ", " + Arrays.toString(bytes))
                    .isLessThan(4_000_000);
        }
        assertThat(refused).as("tampered objects that were noticed").isPositive();
    }
}
