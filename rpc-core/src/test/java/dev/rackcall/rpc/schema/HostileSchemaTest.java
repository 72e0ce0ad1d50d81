package dev.rackcall.rpc.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.schema.Compatibility.Sides;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.spi.ServedInterface;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Descriptions of hostile and of very large services. */
@Timeout(60)
class HostileSchemaTest {
    private static final Sides SIDES = new Sides("here", "there");
    private static final long SEED = Long.getLong("rackcall.seed", System.nanoTime());
    private static final String HONEST = """
            service /s
            0 unary s.Item get(int id)
            1 unary void put(s.Item item, java.util.Map<String, s.Color[]> colors)
            enum s.Color{RED, GREEN}
            record s.Item(java.lang.String name, s.Color color, java.util.Optional<s.Item> next)
            shared s.Note{id:long@8, color:enum s.Color[RED,GREEN]@16}:24
            registered 0 s.Legacy{int year}""";

    private static ServedInterface served(String description) {
        long hash = 0xcbf29ce484222325L;
        for (byte b : description.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (b & 0xff)) * 0x100000001b3L;
        }
        return new ServedInterface("s.Service", hash, description);
    }

    private static Compatibility compare(String theirs) {
        return Compatibility.of(served(HONEST), served(theirs), SIDES);
    }

    @Test
    void shouldRefuseADescriptionThatIsCutOrFalse() {
        ServedInterface whole = served(HONEST);
        ServedInterface cut =
                new ServedInterface(whole.name(), whole.fingerprint(), HONEST.substring(0, HONEST.length() - 1));
        Compatibility compatibility = Compatibility.of(whole, cut, SIDES);
        assertThat(compatibility.holds()).isFalse();
        assertThat(compatibility.differences().toString()).contains("not the whole one");
    }

    @Test
    void shouldRefuseNestingWithoutBound() {
        String deep = "java.util.List<".repeat(5000) + "int" + ">".repeat(5000);
        assertThat(compare(HONEST.replace("get(int id)", "get(" + deep + " id)"))
                        .holds())
                .isFalse();
        assertThat(compare(HONEST.replace("get(int id)", "get(int" + "[]".repeat(5000) + " id)"))
                        .holds())
                .isFalse();
    }

    /** The client has to step over a component that only the server has. */
    @Test
    void shouldRefuseRecordsThatGrowWithoutBound() {
        StringBuilder chain = new StringBuilder(HONEST.replace(
                "java.util.Optional<s.Item> next)", "java.util.Optional<s.Item> next, java.util.Optional<s.R0> more)"));
        for (int i = 0; i < 300; i++) {
            chain.append("\nrecord s.R")
                    .append(i)
                    .append("(s.R")
                    .append(i + 1)
                    .append(" a, s.R")
                    .append(i + 1)
                    .append(" b)");
        }
        chain.append("\nrecord s.R300(long a)");
        assertThat(compare(chain.toString()).holds()).isFalse();
        String loop = HONEST.replace(
                        "java.util.Optional<s.Item> next)",
                        "java.util.Optional<s.Item> next, java.util.Optional<s.R> more)")
                + "\nrecord s.R(s.R again)";
        assertThat(compare(loop).holds())
                .as("read only if a value comes, and then to a bounded depth")
                .isTrue();
    }

    @Test
    void shouldSurviveDescriptionsWithRandomDamage() {
        Random random = new Random(SEED);
        for (int i = 0; i < 20_000; i++) {
            StringBuilder damaged = new StringBuilder(HONEST);
            for (int n = random.nextInt(4); n >= 0; n--) {
                int at = random.nextInt(damaged.length());
                switch (random.nextInt(3)) {
                    case 0 -> damaged.setCharAt(at, "<>(){}[], .\n0a:@".charAt(random.nextInt(16)));
                    case 1 -> damaged.delete(at, Math.min(damaged.length(), at + random.nextInt(40)));
                    default -> damaged.insert(at, HONEST, random.nextInt(40), 40 + random.nextInt(100));
                }
            }
            assertThat(compare(damaged.toString()))
                    .as("seed %d, case %d: %s", SEED, i, damaged)
                    .isNotNull();
        }
    }

    @Test
    void shouldCarryLargeDescriptionsInAHello() throws Exception {
        String large = IntStream.range(0, 1500)
                .mapToObj(i -> i + " unary void method" + i + "(java.util.List<s.Item> items, long number)")
                .collect(Collectors.joining("\n", "service /s\n", "\nrecord s.Item(int a)"));
        assertThat(large.length()).isGreaterThan(60_000);
        byte[] packet = hello(large);
        assertThat(packet.length).isLessThan(64 << 10);
        ServedInterface received = Handshake.ServerHello.decode(packet).service();
        assertThat(received).isEqualTo(served(large));
        String more = large.replace("record s.Item(int a)", "record s.Item(int a, java.util.Optional<String> b)");
        assertThat(Compatibility.of(served(more), received, SIDES).holds()).isTrue();
    }

    @Test
    void shouldSayThatADescriptionIsTooLarge() throws Exception {
        Random random = new Random(SEED);
        String noise = IntStream.range(0, 20_000)
                .mapToObj(i -> i + " unary void m" + Long.toHexString(random.nextLong()) + "()")
                .collect(Collectors.joining("\n", "service /s\n", ""));
        byte[] packet = hello(noise);
        assertThat(packet.length).isLessThan(64 << 10);
        ServedInterface received = Handshake.ServerHello.decode(packet).service();
        Compatibility compatibility = Compatibility.of(served(HONEST), received, SIDES);
        assertThat(compatibility.holds()).isFalse();
        assertThat(compatibility.differences().toString()).contains("not the whole one");
    }

    private static byte[] hello(String description) {
        Handshake.ArenaPlace place = new Handshake.ArenaPlace(1, 0, 4096);
        return new Handshake.ServerHello(
                        Status.OK, 1, 2, 3, new Handshake.Arenas(place, place, place), served(description))
                .encode();
    }
}
