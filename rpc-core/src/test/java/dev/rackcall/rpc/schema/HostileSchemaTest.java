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

/** Descriptions of hostile and of very large services. */
class HostileSchemaTest {
    private static final Sides SIDES = new Sides("here", "there");
    private static final long SEED = Long.getLong("rackcall.seed", System.nanoTime());
    private static final String HONEST = """
            service /s
            0 unary s.Item get(int id)
            1 unary s.Page<s.Item> pages(s.Shape shape)
            2 unary void put(s.Item item, java.util.Map<String, s.Color[]> colors)
            enum s.Color{RED, GREEN}
            record s.Item(java.lang.String name, s.Color color, java.util.Optional<s.Item> next, int size = "1")
            record s.Page<s.Item>(java.util.List<s.Item> items, s.Shape shape)
            oneof s.Shape{s.Item, s.Color}
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
        StringBuilder chain = new StringBuilder(
                HONEST.replace("int size = \"1\")", "int size = \"1\", java.util.Optional<s.R0> more)"));
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
        String loop = HONEST.replace("int size = \"1\")", "int size = \"1\", java.util.Optional<s.R> more)")
                + "\nrecord s.R(s.R again)";
        assertThat(compare(loop).holds())
                .as("read only if a value comes, and then to a bounded depth")
                .isTrue();
    }

    private static Compatibility compareItem(String component) {
        return compare(HONEST.replace("int size = \"1\")", "int size = \"1\", " + component + ")"));
    }

    @Test
    void shouldRefuseDefaultsThatAreNoValues() {
        assertThat(compareItem("long more = \"-7\"").holds()).isTrue();
        assertThat(compareItem("s.Color more = \"RED\"").holds()).isTrue();
        assertThat(compareItem("java.lang.String more = \"\\u0022\"").holds()).isTrue();
        for (String hostile : new String[] {
            "long more = \"x\"",
            "byte more = \"300\"",
            "char more = \"ab\"",
            "s.Color more = \"BLUE\"",
            "java.util.List<s.Item> more = \"a\"",
            "s.Item more = \"\"",
            "s.Shape more = \"\"",
            "java.util.UUID more = \"\"",
            "java.lang.String more = \"a",
            "java.lang.String more = \"\\u00\"",
            "java.lang.String more = \"" + "a".repeat(1001) + "\""
        }) {
            assertThat(compareItem(hostile).holds()).as(hostile).isFalse();
        }
    }

    /** As an int and a long are, whose width alone differs. */
    @Test
    void shouldRefuseDescriptionsOfTypesThatNeedNone() {
        String wider = HONEST.replace("get(int id)", "get(long id)");
        for (String line : new String[] {"enum long{A}", "record long(int a)", "oneof long{s.Item}"}) {
            assertThat(compare(wider + "\n" + line).holds()).as(line).isFalse();
        }
    }

    /** The client has to step over a component whose type it cannot know. */
    @Test
    void shouldRefuseTypesWithoutTheirArguments() {
        for (String type : new String[] {
            "java.util.List",
            "java.util.Set<int, int>",
            "java.util.Optional",
            "java.util.Map<java.lang.String>",
            "java.util.Map<int, java.util.List>"
        }) {
            assertThat(compare(HONEST.replace(
                                    "java.util.List<s.Item> items", "java.util.List<s.Item> items, " + type + " more"))
                            .holds())
                    .as(type)
                    .isFalse();
        }
    }

    @Test
    void shouldConvertAllJdkTypesOfTheProcessor() {
        for (String type : new String[] {
            "java.time.ZonedDateTime",
            "java.time.OffsetTime",
            "java.time.ZoneOffset",
            "java.time.ZoneId",
            "java.time.Period",
            "java.time.Year",
            "java.time.YearMonth",
            "java.time.MonthDay",
            "java.net.URI",
            "java.util.Currency",
            "java.util.Locale",
            "java.util.UUID",
            "java.math.BigInteger",
            "java.math.BigDecimal",
            "java.time.Duration",
            "java.time.Instant",
            "java.time.LocalDate",
            "java.time.LocalTime",
            "java.time.LocalDateTime",
            "java.time.OffsetDateTime"
        }) {
            assertThat(compareItem("java.util.Optional<" + type + "> more").differences())
                    .as(type)
                    .allMatch(difference -> !difference.breaks());
        }
    }

    @Test
    void shouldPairMethodsThatDifferInWidthOnlyIfNoOtherIsMeant() {
        assertThat(compare(HONEST.replace("get(int id)", "get(long id)")).holds())
                .isTrue();
        assertThat(compare(HONEST.replace("get(int id)", "get(java.lang.Integer id)"))
                        .holds())
                .isTrue();
        assertThat(compare(HONEST.replace("get(int id)", "get(float id)")).holds())
                .isFalse();
        assertThat(compare("service /s\n0 unary s.Item get(long id)\n1 unary s.Item get(short id)"
                                + HONEST.substring(HONEST.indexOf("\nenum")))
                        .differences()
                        .toString())
                .as("either could be meant")
                .contains("only the width of integers");
    }

    @Test
    void shouldSurviveDescriptionsWithRandomDamage() {
        Random random = new Random(SEED);
        for (int i = 0; i < 20_000; i++) {
            StringBuilder damaged = new StringBuilder(HONEST);
            for (int n = random.nextInt(4); n >= 0; n--) {
                int at = random.nextInt(damaged.length());
                switch (random.nextInt(3)) {
                    case 0 -> damaged.setCharAt(at, "<>(){}[], .\n0a:@\"=\\u".charAt(random.nextInt(20)));
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
