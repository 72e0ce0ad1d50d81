package dev.rackcall.rpc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Concurrently;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The contract of versions: clients and servers that were compiled from an older and a newer version of one service
 * call each other.
 */
public abstract class EvolutionTest extends RpcFixture {
    protected static final String CHANNEL = "/test/evolving";
    /** The class that implements {@link Generation.Ends}, in both versions. */
    static final String ENDS = "evolving.Ends";

    private static final String OLD_SHOP = """
            package evolving;
            import dev.rackcall.rpc.*;
            import dev.rackcall.shm.types.*;
            import java.util.*;
            import java.time.*;
            import java.util.concurrent.CompletableFuture;
            import java.util.stream.Stream;
            @RpcService(value = "/test/evolving", registered = Shop.Legacy.class)
            public interface Shop {
                enum Color { RED, GREEN }
                record Item(String name, int count, Color color, List<Item> parts) {}
                record Basket(Item[] items, Map<String, Item> byName, Set<Integer> ids, double[] prices) {}
                record Page<T>(List<T> items) {}
                sealed interface Shape permits Circle, Square {}
                record Circle(int radius) implements Shape {}
                record Square(int side) implements Shape {}
                record Stock(String name) {}
                record Tag(String name) {}
                record Jdk(ZonedDateTime zoned, OffsetTime offset, Period period, java.net.URI uri, Locale locale, Currency currency,
                    ZoneId zone, ZoneOffset hours, Year year, YearMonth month, MonthDay day, OffsetDateTime time, UUID id,
                    java.math.BigDecimal price, Duration duration) {}
                final class Legacy { public int number; }
                final class Extra { public int number; }
                @Shared interface Note { long id(); Note id(long value); String text(); Note text(String value); Color color(); Note color(Color value); }
                @Rpc Item add(Item item);
                @Rpc(idempotent = true) CompletableFuture<Basket> fill(Basket basket);
                @Rpc Stream<Item> items(int count);
                @Rpc(oneWay = true) void tell(Item item);
                @Rpc(oneWay = true) void hint(Item item);
                @Rpc(idempotent = true) long plain(long value);
                @Rpc String former(String value);
                @Rpc String read(Note note);
                @Rpc String guarded(Note note);
                @Rpc Note written(long id);
                @Rpc Page<Shape> shapes(Page<Shape> page);
                @Rpc Stream<Page<Shape>> pages(int count);
                @Rpc Shape odd(int number);
                @Rpc Color shade(int number);
                @Rpc int widened(int value, List<Integer> more);
                @Rpc String stock(Stock stock);
                @Rpc Stock restock(String name);
                @Rpc Jdk jdk(Jdk value);
                @Rpc Object thing(Object any);
                @Rpc long sent(int factor, Stream<Item> items);
                @Rpc Stream<Item> echoed(Stream<Item> items);
                @Rpc int tags(Set<Tag> tags);
                @Rpc int tagged(Map<Tag, Integer> counts);
                @Rpc Set<Tag> labels(int count);
            }
            """;

    /** Numbers of methods and constants differ, components lie between the old ones, one is wider. */
    private static final String NEW_SHOP = OLD_SHOP.replace("{ RED, GREEN }", "{ RED, GREEN, BLUE }")
            .replace(
                    "record Item(String name, int count, Color color, List<Item> parts)",
                    "record Item(Optional<String> code, String name, long count, Optional<Color> second, Color color,"
                            + " List<Item> parts, Optional<Item> gift)")
            .replace("registered = Shop.Legacy.class", "registered = {Shop.Legacy.class, Shop.Extra.class}")
            .replace("record Page<T>(List<T> items)", "record Page<T>(@Default(\"7\") int total, List<T> items)")
            .replace("permits Circle, Square {}", "permits Triangle, Circle, Square {}")
            .replace(
                    "record Circle(int radius)",
                    "record Triangle(int a, int b) implements Shape {} record Circle(long radius)")
            .replace("record Square(int side)", "record Square(Integer side)")
            .replace(
                    "record Stock(String name)",
                    "record Stock(@Default(\"-5\") int amount, @Default(\"true\") boolean open, @Default(\"x\\\"\\u00e9\") String label,"
                            + " String name, @Default(\"BLUE\") Color color, @Default(\"\") Map<String, Integer> bins,"
                            + " @Default(\"1.5\") double weight, @Default(\"\") int[] sizes, @Default(\"c\") char letter,"
                            + " @Default(\"9\") Long large, @Default(\"2\") float rough, @Default(\"3\") short small,"
                            + " @Default(\"4\") byte tiny, Optional<Integer> most)")
            .replace("record Tag(String name)", "record Tag(String name, Optional<Integer> rank)")
            .replace(
                    "record Jdk(ZonedDateTime zoned,", "record Jdk(@Default(\"new\") String note, ZonedDateTime zoned,")
            .replace(
                    "@Rpc int widened(int value, List<Integer> more);",
                    "@Rpc CompletableFuture<Long> widened(long other, List<Long> more);")
            .replace("Set<Integer> ids, double[] prices)", "Set<Integer> ids, double[] prices, Optional<Long> total)")
            .replace(
                    "Note color(Color value); }",
                    "Note color(Color value);"
                            + " @Since(2) int pages(); Note pages(int value);"
                            + " @Since(3) String author(); Note author(String value); }")
            // Its server refuses the calls of a client that does not learn of it.
            .replace(
                    "@Rpc String guarded(Note note);",
                    "@Rpc(isolation = Isolation.SNAPSHOT) String guarded(Note note);")
            .replace(
                    "@Rpc String former(String value);",
                    "@Rpc String newest(Item item); @Rpc long about(long value); @Rpc CompletableFuture<Long> later(long value);"
                            + " @Rpc(oneWay = true) void save(long value); @Rpc long saved(); @Rpc Stream<Long> downTo(long value);"
                            + " @Rpc long summed(Stream<Long> values);");

    private static final String OLD_ENDS = """
            package evolving;
            import dev.rackcall.rpc.*;
            import dev.rackcall.rpc.contract.Generation;
            import dev.rackcall.shm.Scope;
            import evolving.Shop.*;
            import java.time.*;
            import java.util.*;
            import java.util.concurrent.CompletableFuture;
            import java.util.stream.*;
            public class Ends implements Generation.Ends {
                static Item item(String name, int count) { return new Item(name, count, Color.GREEN, List.of()); }
                static class Served implements Shop {
                    volatile String told = "";
                    public Item add(Item item) {
                        return new Item(item.name() + told, item.count() + 1, item.color(), item.parts());
                    }
                    public CompletableFuture<Basket> fill(Basket basket) { return CompletableFuture.completedFuture(basket); }
                    public Stream<Item> items(int count) {
                        return IntStream.range(0, count).mapToObj(i -> item("item" + i, i));
                    }
                    public void tell(Item item) { told = item.name(); }
                    public void hint(Item item) { Generation.HINTS.incrementAndGet(); }
                    public long plain(long value) { return value + 1; }
                    public String former(String value) { return "former " + value; }
                    public String read(Note note) { return note.id() + note.text() + note.color(); }
                    public String guarded(Note note) { return note.text() + note.id(); }
                    public Note written(long id) {
                        return RpcContext.current().orElseThrow().replyScope().create(Note.class).id(id).text("written").color(Color.RED);
                    }
                    public Page<Shape> shapes(Page<Shape> page) { return page; }
                    public Stream<Page<Shape>> pages(int count) {
                        return IntStream.range(0, count).mapToObj(i -> page(List.of(new Circle(i))));
                    }
                    public Shape odd(int number) { return new Circle(number); }
                    public Color shade(int number) { return Color.RED; }
                    public int widened(int value, List<Integer> more) { return value + more.get(0); }
                    public String stock(Stock stock) { return stock.name(); }
                    public Stock restock(String name) { return new Stock(name); }
                    public Jdk jdk(Jdk value) { return value; }
                    public Object thing(Object any) { return any; }
                    public long sent(int factor, Stream<Item> items) { return factor * items.mapToLong(Item::count).sum(); }
                    public Stream<Item> echoed(Stream<Item> items) { return items; }
                    public int tags(Set<Tag> tags) { return tags.size(); }
                    public int tagged(Map<Tag, Integer> counts) { return counts.size(); }
                    public Set<Tag> labels(int count) { return Ends.tags(count); }
                }
                static Tag tag(int rank) { return new Tag("t"); }
                static Set<Tag> tags(int count) { return IntStream.range(0, count).mapToObj(Ends::tag).collect(Collectors.toSet()); }
                static String text(Stock stock) { return stock.name(); }
                static Page<Shape> page(List<Shape> shapes) { return new Page<>(shapes); }
                static Jdk jdk() {
                    return new Jdk(ZonedDateTime.of(2024, 2, 29, 12, 0, 0, 7, ZoneId.of("Asia/Kathmandu")),
                        OffsetTime.of(1, 2, 3, 4, ZoneOffset.ofHours(5)), Period.of(1, -2, 3), java.net.URI.create("x:y?z"),
                        Locale.GERMANY, Currency.getInstance("EUR"), ZoneId.of("Europe/Berlin"), ZoneOffset.ofHours(-3), Year.of(1),
                        YearMonth.of(2, 3), MonthDay.of(4, 5), OffsetDateTime.MIN, new UUID(1, 2), new java.math.BigDecimal("1.20"),
                        Duration.ofNanos(5));
                }
                public RpcServer.Builder serve(RpcServer.Builder server) { return server.service(Shop.class, new Served()); }
                public Generation.Client client(RpcChannel channel, CallOptions options) {
                    Shop shop = channel.stub(Shop.class, options);
                    return (what, number) -> {
                        switch (what) {
                            case "add": {
                                Item inner = item("in", number);
                                Item whole = new Item("out", number, Color.RED, List.of(inner, inner));
                                Item back = shop.add(whole);
                                return back.name() + back.count() + back.color() + back.parts().size() + back.parts().get(1).color();
                            }
                            case "fill": {
                                Basket basket = new Basket(new Item[] {item("a", number)}, Map.of("b", item("b", 2)), Set.of(number), new double[] {1.5, 2.5});
                                Basket back;
                                try {
                                    back = shop.fill(basket).join();
                                } catch (java.util.concurrent.CompletionException e) {
                                    throw (RuntimeException) e.getCause();
                                }
                                return back.items()[0].name() + back.items()[0].count() + back.byName().get("b").count() + back.ids() + Arrays.toString(back.prices());
                            }
                            case "fills": {
                                Basket basket = new Basket(new Item[0], Map.of(), Set.of(), new double[] {number});
                                List<CompletableFuture<Basket>> begun = new ArrayList<>();
                                for (int i = 0; i < 20; i++) {
                                    begun.add(shop.fill(basket));
                                }
                                double sum = 0;
                                for (CompletableFuture<Basket> each : begun) {
                                    sum += each.join().prices()[0];
                                }
                                return "" + sum;
                            }
                            case "items":
                                try (Stream<Item> items = shop.items(number)) {
                                    return items.map(each -> each.name() + each.count() + each.color()).collect(Collectors.joining(","));
                                }
                            case "tell": shop.tell(item("!", number)); return "";
                            case "hint": shop.hint(item("?", number)); return "";
                            case "plain": return "" + shop.plain(number);
                            case "former": return shop.former("" + number);
                            case "read":
                                try (Scope scope = channel.newScope()) {
                                    Note note = scope.create(Note.class).id(number).text("text").color(Color.GREEN);
                                    return shop.read(note);
                                }
                            case "guarded":
                                try (Scope scope = channel.newScope()) {
                                    return shop.guarded(scope.create(Note.class).id(number).text("guarded"));
                                }
                            case "written": {
                                Note note = shop.written(number);
                                // A server that shuts down meanwhile waits until it is released.
                                java.util.concurrent.locks.LockSupport.parkNanos(1_000_000);
                                String whole = note.id() + note.text() + note.color();
                                channel.release(note);
                                return whole;
                            }
                            case "shapes": return "" + shop.shapes(page(List.of(new Circle(number), new Square(2)))).items();
                            case "pages":
                                try (Stream<Page<Shape>> pages = shop.pages(number)) {
                                    return pages.map(each -> "" + each.items().get(0)).collect(Collectors.joining(","));
                                }
                            case "odd": return "" + shop.odd(number);
                            case "shade": return "" + shop.shade(number);
                            case "widened": return "" + shop.widened(number, List.of(2));
                            case "stock": return shop.stock(new Stock("s"));
                            case "restock": return text(shop.restock("r"));
                            case "jdk": return "" + shop.jdk(jdk()).equals(jdk());
                            case "legacy": {
                                Legacy legacy = new Legacy();
                                legacy.number = number;
                                return "" + ((Legacy) shop.thing(legacy)).number;
                            }
                            case "sent": return "" + shop.sent(2, IntStream.range(0, number).mapToObj(i -> item("item" + i, i)));
                            case "echoed":
                                try (Stream<Item> items = shop.echoed(IntStream.range(0, number).mapToObj(i -> item("item" + i, i)))) {
                                    return items.map(each -> each.name() + each.count() + each.color()).collect(Collectors.joining(","));
                                }
                            case "tags": return "" + shop.tags(tags(number));
                            case "tagged": return "" + shop.tagged(tags(number).stream().collect(Collectors.toMap(each -> each, each -> 1)));
                            case "labels": return "" + shop.labels(number).size();
                            default: throw new IllegalArgumentException(what);
                        }
                    };
                }
            }
            """;

    private static final String NEW_ENDS = OLD_ENDS.replace(
                    "return new Item(name, count, Color.GREEN, List.of());",
                    "return new Item(Optional.of(\"code\"), name, count, Optional.of(Color.BLUE), Color.GREEN, List.of(), Optional.of("
                            + "new Item(Optional.empty(), \"gift\", 1, Optional.empty(), Color.RED, List.of(), Optional.empty())));")
            .replace(
                    "return new Item(item.name() + told, item.count() + 1, item.color(), item.parts());",
                    "return new Item(item.code(), item.name() + told, item.count() + 1, Optional.of(Color.BLUE), item.color(),"
                            + " item.parts(), Optional.of(item));")
            .replace(
                    "new Item(\"out\", number, Color.RED, List.of(inner, inner))",
                    "new Item(Optional.of(\"c\"), \"out\", number, Optional.empty(), Color.RED, List.of(inner, inner),"
                            + " Optional.of(inner))")
            .replace("new Page<>(shapes)", "new Page<>(shapes.size(), shapes)")
            .replace("{ return page; }", "{ return new Page<>(page.total() + 1, page.items()); }")
            .replace(
                    "{ return new Circle(number); }",
                    "{ return number == 1 ? new Triangle(1, 2) : new Circle(1L << number); }")
            .replace("{ return Color.RED; }", "{ return number == 1 ? Color.BLUE : Color.GREEN; }")
            .replace(
                    "public int widened(int value, List<Integer> more) { return value + more.get(0); }",
                    "public CompletableFuture<Long> widened(long value, List<Long> more) { return CompletableFuture.completedFuture("
                            + "value == 1 ? 1L << 40 : value + more.get(0)); }")
            .replace(
                    "shop.widened(number, List.of(2))",
                    "joined(shop.widened(number == 2 ? 1L << 40 : number, List.of(2L)))")
            .replace("{ return new Stock(name); }", "{ return Ends.stock(9, name); }")
            .replace("new Stock(\"s\")", "stock(8, \"s\")")
            .replace("{ return stock.name(); }", "{ return Ends.text(stock); }")
            .replace("static String text(Stock stock) { return Ends.text(stock); }", """
                    static Stock stock(int amount, String name) {
                        return new Stock(amount, false, "l", name, Color.RED, Map.of("a", 1), 2, new int[] {3}, 'd', 4L, 5, (short) 6,
                            (byte) 7, Optional.of(8));
                    }
                    static long joined(CompletableFuture<Long> future) {
                        try {
                            return future.join();
                        } catch (java.util.concurrent.CompletionException e) {
                            throw (RuntimeException) e.getCause();
                        }
                    }
                    static String text(Stock s) {
                        return s.amount() + " " + s.open() + " " + s.label() + " " + s.name() + " " + s.color() + " " + s.bins() + " "
                            + s.weight() + " " + Arrays.toString(s.sizes()) + " " + s.letter() + " " + s.large() + " " + s.rough() + " "
                            + s.small() + " " + s.tiny() + " " + s.most();
                    }
                    """)
            .replace("return new Tag(\"t\")", "return new Tag(\"t\", Optional.of(rank))")
            .replace("return new Jdk(ZonedDateTime.of", "return new Jdk(\"new\", ZonedDateTime.of")
            .replace("new double[] {1.5, 2.5})", "new double[] {1.5, 2.5}, Optional.of(7L))")
            .replace("new double[] {number})", "new double[] {number}, Optional.of(7L))")
            .replace(
                    "public String former(String value) { return \"former \" + value; }",
                    "public String newest(Item item) { return \"newest \" + item.name(); }"
                            + " public long about(long value) { return -value; }"
                            + " public CompletableFuture<Long> later(long value) { return CompletableFuture.completedFuture(-value); }"
                            + " private volatile long saved;"
                            + " public void save(long value) { saved = value; }"
                            + " public long saved() { return saved; }"
                            + " public Stream<Long> downTo(long value) { return Stream.of(0L, -value); }"
                            + " public long summed(Stream<Long> values) { return values.mapToLong(each -> each).sum(); }")
            .replace("case \"former\": return shop.former(\"\" + number);", """
                    case "total": return "" + shop.shapes(page(List.of())).total();
                    case "triangle": return "" + shop.shapes(page(List.of(new Triangle(1, 2)))).items();
                    case "extra": return "" + shop.thing(new Extra());
                    case "readBlue":
                        try (Scope scope = channel.newScope()) {
                            return shop.read(scope.create(Note.class).id(1).text("t").color(Color.BLUE));
                        }
                    case "newest": return shop.newest(item("x", number));
                    case "about": return "" + shop.about(number);
                    case "later": return "" + joined(shop.later(number));
                    case "save": shop.save(number); return "";
                    case "saved": return "" + shop.saved();
                    case "downTo":
                        try (Stream<Long> numbers = shop.downTo(number)) {
                            return "" + numbers.toList();
                        }
                    case "summed": return "" + shop.summed(Stream.of(1L, (long) number));
                    case "blue": return "" + shop.add(new Item(Optional.empty(), "x", 1, Optional.empty(), Color.BLUE, List.of(), Optional.empty())).color();
                    case "large": return "" + shop.add(new Item(Optional.empty(), "x", 1L << 40, Optional.empty(), Color.RED, List.of(), Optional.empty())).count();
                    """)
            .replace(
                    "return note.id() + note.text() + note.color();",
                    "return note.id() + note.text() + note.color() + note.pages() + note.author();")
            .replace(".color(Color.GREEN);", ".color(Color.GREEN).pages(9).author(\"me\");");

    @TempDir
    static Path classes;

    private static Generation older;
    private static Generation newer;

    @BeforeAll
    static void compile() throws Exception {
        older = Generation.compile(
                classes.resolve("old"), Map.of("evolving.Shop", OLD_SHOP, "evolving.Ends", OLD_ENDS), ENDS);
        newer = Generation.compile(
                classes.resolve("new"), Map.of("evolving.Shop", NEW_SHOP, "evolving.Ends", NEW_ENDS), ENDS);
    }

    @AfterAll
    static void unload() throws Exception {
        older.close();
        newer.close();
    }

    /** Where the server listens; other transports override it. */
    protected RpcServer.Builder place(RpcServer.Builder server) {
        return server.runtimeFolder(directory);
    }

    protected RpcChannel.Builder place(RpcChannel.Builder channel) {
        return channel.runtimeFolder(directory);
    }

    protected static Generation older() {
        return older;
    }

    protected static Generation newer() {
        return newer;
    }

    private RpcServer start(Generation generation) {
        return serve(generation.serve(place(RpcServer.builder())));
    }

    protected final RpcChannel openChannel() {
        return open(place(RpcChannel.builder(CHANNEL)));
    }

    private static void assertCommonCalls(Generation.Client client, int number) {
        assertThat(client.call("add", number)).isEqualTo("out" + (number + 1) + "RED2GREEN");
        assertThat(client.call("items", 40))
                .startsWith("item00GREEN,item11GREEN")
                .endsWith("item3939GREEN");
        assertThat(client.call("fill", number)).isEqualTo("a" + number + "2[" + number + "][1.5, 2.5]");
        assertThat(client.call("plain", number)).isEqualTo("" + (number + 1));
        assertThat(client.call("sent", 100)).isEqualTo("" + 2 * 99 * 50);
        assertThat(client.call("echoed", 100))
                .startsWith("item00GREEN,item11GREEN")
                .endsWith("item9999GREEN");
    }

    @Test
    void shouldLetAnOldClientCallANewServer() {
        start(newer);
        Generation.Client client = older.client(openChannel());
        assertCommonCalls(client, 3);
        assertThat(client.call("read", 5)).isEqualTo("5textGREEN0");
        assertThat(client.call("guarded", 5)).isEqualTo("guarded5");
        client.call("tell", 1);
        Await.until("the one-way call", () -> client.call("add", 3).equals("out!4RED2GREEN"));
        assertFails(Status.Code.UNIMPLEMENTED, () -> client.call("former", 1))
                .hasMessageContainingAll("former", "String former(String value)", "another version");
        assertCommonCalls(older.client(openChannel()), 4, "!");
    }

    @Test
    void shouldLetANewClientCallAnOldServer() {
        start(older);
        Generation.Client client = newer.client(openChannel());
        assertCommonCalls(client, 3);
        assertThat(client.call("read", 5)).isEqualTo("5textGREEN");
        assertThat(client.call("guarded", 5)).isEqualTo("guarded5");
        assertFails(Status.Code.UNIMPLEMENTED, () -> client.call("newest", 1)).hasMessageContaining("newest");
        assertFails(Status.Code.UNIMPLEMENTED, () -> client.call("about", 1)).hasMessageContaining("about");
        assertCommonCalls(client, 7);
    }

    @Test
    void shouldFailOnlyTheCallWhoseValueTheOtherVersionLacks() {
        start(older);
        Generation.Client client = newer.client(openChannel());
        assertFails(Status.Code.INVALID_ARGUMENT, () -> client.call("blue", 1))
                .hasMessageContainingAll("Color.BLUE", "another version");
        assertFails(Status.Code.INVALID_ARGUMENT, () -> client.call("large", 1))
                .hasMessageContainingAll("1099511627776", "does not fit");
        assertCommonCalls(client, 3);
    }

    /** The types and changes that no other test of this class has, in both directions. */
    private static void assertTypes(Generation.Client client) {
        assertThat(client.call("shapes", 3)).isEqualTo("[Circle[radius=3], Square[side=2]]");
        assertThat(client.call("pages", 2)).isEqualTo("Circle[radius=0],Circle[radius=1]");
        assertThat(client.call("jdk", 0)).isEqualTo("true");
        assertThat(client.call("widened", 5)).isEqualTo("7");
        assertThat(client.call("legacy", 6)).isEqualTo("6");
    }

    @Test
    void shouldGiveAnOldClientsRecordsTheirDefaults() {
        start(newer);
        Generation.Client client = older.client(openChannel());
        assertTypes(client);
        assertThat(client.call("stock", 0)).isEqualTo("-5 true x\"\u00e9 s BLUE {} 1.5 [] c 9 2.0 3 4 Optional.empty");
        assertThat(client.call("restock", 0)).isEqualTo("r");
        assertThat(client.call("odd", 3)).isEqualTo("Circle[radius=8]");
        assertThat(client.call("shade", 3)).isEqualTo("GREEN");
        assertFails(Status.Code.INTERNAL, () -> client.call("odd", 1))
                .hasMessageContaining("does not know Shop.Triangle");
        assertFails(Status.Code.INTERNAL, () -> client.call("odd", 40)).hasMessageContaining("does not fit");
        assertFails(Status.Code.INTERNAL, () -> client.call("shade", 1)).hasMessageContaining("Color.BLUE");
        assertFails(Status.Code.INTERNAL, () -> client.call("widened", 1)).hasMessageContaining("does not fit");
        assertTypes(client);
    }

    @Test
    void shouldGiveAnOldServersRecordsTheirDefaults() {
        start(older);
        Generation.Client client = newer.client(openChannel());
        assertTypes(client);
        assertThat(client.call("stock", 0)).isEqualTo("s");
        assertThat(client.call("restock", 0))
                .isEqualTo("-5 true x\"\u00e9 r BLUE {} 1.5 [] c 9 2.0 3 4 Optional.empty");
        assertThat(client.call("total", 0)).isEqualTo("7");
        assertThat(client.call("odd", 3)).isEqualTo("Circle[radius=3]");
        assertFails(Status.Code.INVALID_ARGUMENT, () -> client.call("triangle", 1))
                .hasMessageContaining("does not know Shop.Triangle");
        assertFails(Status.Code.INVALID_ARGUMENT, () -> client.call("widened", 2))
                .hasMessageContaining("does not fit");
        assertFails(Status.Code.INVALID_ARGUMENT, () -> client.call("extra", 1));
        assertFails(Status.Code.INVALID_ARGUMENT, () -> client.call("readBlue", 1))
                .hasMessageContaining("color");
        assertTypes(client);
    }

    /** They differ in a component that the other side lacks; one of them would be lost. */
    @Test
    void shouldFailRatherThanMergeElementsOfASetOrKeysOfAMap() {
        start(older);
        Generation.Client client = newer.client(openChannel());
        assertThat(client.call("tags", 1)).isEqualTo("1");
        assertThat(client.call("tagged", 1)).isEqualTo("1");
        assertFails(Status.Code.INVALID_ARGUMENT, () -> client.call("tags", 2))
                .hasMessageContainingAll("elements of a Set", "Tag", "equal here");
        assertFails(Status.Code.INVALID_ARGUMENT, () -> client.call("tagged", 2))
                .hasMessageContainingAll("keys of a Map", "Tag", "equal here");
        assertThat(client.call("tags", 1)).isEqualTo("1");
    }

    @Test
    void shouldFailRatherThanMergeElementsOfAReturnedSet() {
        start(newer);
        Generation.Client client = older.client(openChannel());
        assertThat(client.call("labels", 1)).isEqualTo("1");
        assertFails(Status.Code.INTERNAL, () -> client.call("labels", 2)).hasMessageContaining("elements of a Set");
        assertThat(client.call("labels", 1)).isEqualTo("1");
    }

    @Test
    void shouldConvertNothingBetweenEqualVersions() {
        start(newer);
        Generation.Client client = newer.client(openChannel());
        assertThat(client.call("tags", 2)).isEqualTo("2");
        assertThat(client.call("tagged", 2)).isEqualTo("2");
        assertThat(client.call("labels", 2)).isEqualTo("2");
        assertCommonCalls(client, 3);
        assertThat(client.call("blue", 1)).isEqualTo("BLUE");
        assertThat(client.call("large", 1)).isEqualTo("" + ((1L << 40) + 1));
        assertThat(client.call("read", 5)).isEqualTo("5textGREEN9me");
        assertThat(client.call("stock", 0)).isEqualTo("8 false l s RED {a=1} 2.0 [3] d 4 5.0 6 7 Optional[8]");
        assertThat(client.call("triangle", 0)).isEqualTo("[Triangle[a=1, b=2]]");
        assertThat(client.call("total", 0)).isEqualTo("1");
    }

    private static void assertCommonCalls(Generation.Client client, int number, String told) {
        assertThat(client.call("add", number)).isEqualTo("out" + told + (number + 1) + "RED2GREEN");
    }

    /**
     * Servers of the old and of the new version take turns at one address while clients of both call. No call fails,
     * because they wait while there is no server.
     */
    @Test
    void shouldServeOldAndNewClientsThroughARollingUpgrade() {
        Load load = Load.withoutFailure();
        int before = Generation.HINTS.get();
        RpcServer server = start(older);
        for (int i = 0; i < 2; i++) {
            load.start(older, openChannel(), CallOptions.DEFAULT.withWaitForReady());
            load.start(newer, openChannel(), CallOptions.DEFAULT.withWaitForReady());
        }
        for (Generation next : new Generation[] {newer, older, newer}) {
            load.awaitMore();
            // Closing alone gives calls 5 s, which may pass on a busy machine.
            assertThat(server.shutdown(Await.BOUND)).as("it drained").isTrue();
            server = start(next);
        }
        load.awaitMore();
        int hints = load.end();
        Await.equal("one-way calls that were served", hints, () -> Generation.HINTS.get() - before);
    }

    /** Clients that call until they are told to stop. Each rests between rounds; a starting server needs the processors. */
    protected static final class Load {
        private static final long REST = TimeUnit.MILLISECONDS.toNanos(5);

        /**
         * Makes some calls and returns whether they were answered.
         *
         * <p>{@code refused} does not wait for a server: a call that passes objects of a draining server would wait for
         * the next one, while the draining one waits for their scope.
         */
        @FunctionalInterface
        public interface Round {
            boolean call(Generation generation, Generation.Client client, Generation.Client refused, int number);
        }

        private final Round round;
        private final AtomicBoolean over = new AtomicBoolean();
        private final AtomicInteger answered = new AtomicInteger();
        private final List<CompletableFuture<Boolean>> callers = new ArrayList<>();
        /** One-way calls that have begun. */
        private final AtomicInteger hints = new AtomicInteger();
        /** How they have ended. */
        private final List<Status.Code> ends = Collections.synchronizedList(new ArrayList<>());

        private final boolean isOneWay;

        private Load(boolean isOneWay, Round round) {
            this.isOneWay = isOneWay;
            this.round = round;
        }

        /** Any calls, none of which may fail, except that a server of the other version may lack a method. */
        public static Load withoutFailure() {
            return new Load(true, (generation, client, refused, number) -> {
                assertCommonCalls(client, number);
                isOwnMethodAnswered(generation, client, number);
                assertThat(client.call("written", number)).isEqualTo(number + "writtenRED");
                assertTypes(client);
                assertThat(client.call("fills", number)).isEqualTo("" + 20.0 * number);
                Await.until("a server that reads a shared object", () -> isRead(refused, number));
                return true;
            });
        }

        /** A draining server refuses calls that pass objects of its memory; in a new scope, they are another one's. */
        private static boolean isRead(Generation.Client client, int number) {
            try {
                assertThat(client.call("read", number)).startsWith(number + "textGREEN");
                return true;
            } catch (RpcException e) {
                assertThat(e.code()).as("%s", e).isEqualTo(Status.Code.UNAVAILABLE);
                return false;
            }
        }

        /** Calls that a channel with several servers repeats if a server ends; none of them may fail. */
        public static Load ofRepeatableCalls() {
            return new Load(false, (_, client, _, number) -> {
                assertThat(client.call("plain", number)).isEqualTo("" + (number + 1));
                assertThat(client.call("fill", number)).isEqualTo("a" + number + "2[" + number + "][1.5, 2.5]");
                return true;
            });
        }

        public void start(Generation generation, RpcChannel channel) {
            start(generation, channel, CallOptions.DEFAULT);
        }

        private void start(Generation generation, RpcChannel channel, CallOptions options) {
            Generation.Client client = generation.client(channel, options);
            Generation.Client refused = generation.client(channel);
            Generation.Client oneWay =
                    generation.client(channel, options.withObserver((status, _) -> ends.add(status.code())));
            callers.add(Concurrently.start(() -> {
                for (int number = 0; !over.get(); number++) {
                    if (round.call(generation, client, refused, number)) {
                        answered.incrementAndGet();
                    }
                    if (isOneWay) {
                        hints.incrementAndGet();
                        oneWay.call("hint", number);
                    }
                    LockSupport.parkNanos(REST);
                }
                return true;
            }));
        }

        public void awaitMore() {
            int before = answered.get();
            Await.until("10 more rounds of calls", () -> {
                callers.stream().filter(CompletableFuture::isDone).forEach(CompletableFuture::join);
                return answered.get() > before + 10;
            });
        }

        /** Returns how many one-way calls were made; all of them were sent. */
        public int end() {
            over.set(true);
            callers.forEach(CompletableFuture::join);
            Await.equal("one-way calls that have ended", hints.get(), ends::size);
            assertThat(ends).allMatch(Status.Code.OK::equals);
            return hints.get();
        }
    }

    /**
     * Calls a method that the other version lacks. That no server has it fails this call only.
     *
     * @return whether a server has it
     */
    protected static boolean isOwnMethodAnswered(Generation generation, Generation.Client client, int number) {
        boolean isNew = generation == newer;
        try {
            assertThat(client.call(isNew ? "about" : "former", number))
                    .isEqualTo(isNew ? "" + -number : "former " + number);
            return true;
        } catch (RpcException e) {
            assertThat(e.code()).as("%s", e).isEqualTo(Status.Code.UNIMPLEMENTED);
            return false;
        }
    }

    /**
     * An old and a new server run. A channel that has just connected to one of them finds the other one, for each kind of
     * call, if that one has the method.
     */
    protected final void assertOwnMethodsAreFound() {
        for (int i = 1; i <= 20; i++) {
            assertFound("about", i, "" + -i);
            assertFound("later", i, "" + -i);
            assertFound("downTo", i, "[0, " + -i + "]");
            assertFound("summed", i, "" + (i + 1));
            try (RpcChannel channel = openChannel()) {
                Generation.Client client = newer.client(channel);
                client.call("save", i);
                Await.equal("the saved number", "" + i, () -> client.call("saved", 0));
            }
        }
    }

    private void assertFound(String method, int number, String answer) {
        try (RpcChannel channel = openChannel()) {
            assertThat(newer.client(channel).call(method, number)).as(method).isEqualTo(answer);
        }
    }

    /** A server in a process of its own; {@link GenerationChild} serves it. */
    @FunctionalInterface
    protected interface Launch {
        ChildJvm start(Generation generation) throws Exception;
    }

    /**
     * Two old servers are replaced by new ones, which start before the old ones leave, and one is rolled back, while old
     * and new clients call: no call fails, and no one-way call is lost.
     *
     * @param check run before the last servers leave
     */
    protected final void upgradeOneByOne(Launch launch, Runnable check) throws Exception {
        Queue<ChildJvm> children = launched(launch, older, older, newer, newer, older);
        ChildJvm first = serving(children.remove());
        ChildJvm second = serving(children.remove());
        RpcChannel channel = openChannel();
        Generation.Client newClient = newer.client(channel);
        assertThat(isOwnMethodAnswered(newer, newClient, 1)).isFalse();
        Load load = Load.withoutFailure();
        load.start(older, openChannel());
        load.start(newer, channel);
        load.awaitMore();
        int served = 0;
        for (Generation next : new Generation[] {newer, newer, older}) {
            ChildJvm third = serving(children.remove());
            load.awaitMore();
            served += GenerationChild.leave(first);
            first = second;
            second = third;
            load.awaitMore();
            if (next == newer) {
                Await.until("a new server that has the method", () -> isOwnMethodAnswered(newer, newClient, 2));
            }
        }
        int hints = load.end();
        check.run();
        served += GenerationChild.leave(first) + GenerationChild.leave(second);
        assertThat(served).as("one-way calls that were served").isEqualTo(hints);
    }

    /** Servers that do not serve yet. They start before the load, which would take the processors from them. */
    private Queue<ChildJvm> launched(Launch launch, Generation... generations) throws Exception {
        Queue<ChildJvm> children = new ArrayDeque<>();
        for (Generation generation : generations) {
            children.add(keep(launch.start(generation)));
        }
        for (ChildJvm child : children) {
            child.awaitLine(GenerationChild.LOADED);
        }
        return children;
    }

    private static ChildJvm serving(ChildJvm child) throws Exception {
        child.send("serve");
        child.awaitLine(GenerationChild.READY);
        return child;
    }
}
