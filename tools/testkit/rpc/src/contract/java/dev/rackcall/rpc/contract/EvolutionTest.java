package dev.rackcall.rpc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The contract of versions: clients and servers that were compiled from an older and a newer version of one service
 * call each other.
 */
@Timeout(120)
public abstract class EvolutionTest extends RpcFixture {
    private static final String CHANNEL = "/test/evolving";

    private static final String OLD_SHOP = """
            package evolving;
            import dev.rackcall.rpc.*;
            import dev.rackcall.shm.types.*;
            import java.util.*;
            import java.util.concurrent.CompletableFuture;
            import java.util.stream.Stream;
            @RpcService("/test/evolving")
            public interface Shop {
                enum Color { RED, GREEN }
                record Item(String name, int count, Color color, List<Item> parts) {}
                record Basket(Item[] items, Map<String, Item> byName, Set<Integer> ids, double[] prices) {}
                @Shared interface Note { long id(); Note id(long value); String text(); Note text(String value); Color color(); Note color(Color value); }
                @Rpc Item add(Item item);
                @Rpc(idempotent = true) CompletableFuture<Basket> fill(Basket basket);
                @Rpc Stream<Item> items(int count);
                @Rpc(oneWay = true) void tell(Item item);
                @Rpc(idempotent = true) long plain(long value);
                @Rpc String former(String value);
                @Rpc String read(Note note);
            }
            """;

    /** Numbers of methods and constants differ, components lie between the old ones, one is wider. */
    private static final String NEW_SHOP = OLD_SHOP.replace("{ RED, GREEN }", "{ RED, GREEN, BLUE }")
            .replace(
                    "record Item(String name, int count, Color color, List<Item> parts)",
                    "record Item(Optional<String> code, String name, long count, Optional<Color> second, Color color,"
                            + " List<Item> parts, Optional<Item> gift)")
            .replace("Set<Integer> ids, double[] prices)", "Set<Integer> ids, double[] prices, Optional<Long> total)")
            .replace(
                    "Note color(Color value); }",
                    "Note color(Color value);"
                            + " @Since(2) int pages(); Note pages(int value);"
                            + " @Since(3) String author(); Note author(String value); }")
            .replace(
                    "@Rpc String former(String value);", "@Rpc String newest(Item item); @Rpc long about(long value);");

    private static final String OLD_ENDS = """
            package evolving;
            import dev.rackcall.rpc.*;
            import dev.rackcall.rpc.contract.Generation;
            import dev.rackcall.shm.Scope;
            import evolving.Shop.*;
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
                    public long plain(long value) { return value + 1; }
                    public String former(String value) { return "former " + value; }
                    public String read(Note note) { return note.id() + note.text() + note.color(); }
                }
                public RpcServer.Builder serve(RpcServer.Builder server) { return server.service(Shop.class, new Served()); }
                public Generation.Client client(RpcChannel channel) {
                    Shop shop = channel.stub(Shop.class);
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
                            case "items":
                                try (Stream<Item> items = shop.items(number)) {
                                    return items.map(each -> each.name() + each.count() + each.color()).collect(Collectors.joining(","));
                                }
                            case "tell": shop.tell(item("!", number)); return "";
                            case "plain": return "" + shop.plain(number);
                            case "former": return shop.former("" + number);
                            case "read":
                                try (Scope scope = channel.newScope()) {
                                    Note note = scope.create(Note.class).id(number).text("text").color(Color.GREEN);
                                    return shop.read(note);
                                }
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
            .replace("new double[] {1.5, 2.5})", "new double[] {1.5, 2.5}, Optional.of(7L))")
            .replace(
                    "public String former(String value) { return \"former \" + value; }",
                    "public String newest(Item item) { return \"newest \" + item.name(); }"
                            + " public long about(long value) { return -value; }")
            .replace("case \"former\": return shop.former(\"\" + number);", """
                    case "newest": return shop.newest(item("x", number));
                    case "about": return "" + shop.about(number);
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
                classes.resolve("old"), Map.of("evolving.Shop", OLD_SHOP, "evolving.Ends", OLD_ENDS), "evolving.Ends");
        newer = Generation.compile(
                classes.resolve("new"), Map.of("evolving.Shop", NEW_SHOP, "evolving.Ends", NEW_ENDS), "evolving.Ends");
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
        assertRepeatableCalls(client, number);
    }

    /** Calls that a channel with several servers repeats if a server ends. */
    protected static void assertRepeatableCalls(Generation.Client client, int number) {
        assertThat(client.call("fill", number)).isEqualTo("a" + number + "2[" + number + "][1.5, 2.5]");
        assertThat(client.call("plain", number)).isEqualTo("" + (number + 1));
    }

    @Test
    void shouldLetAnOldClientCallANewServer() {
        start(newer);
        Generation.Client client = older.client(openChannel());
        assertCommonCalls(client, 3);
        assertThat(client.call("read", 5)).isEqualTo("5textGREEN0");
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

    @Test
    void shouldConvertNothingBetweenEqualVersions() {
        start(newer);
        Generation.Client client = newer.client(openChannel());
        assertCommonCalls(client, 3);
        assertThat(client.call("blue", 1)).isEqualTo("BLUE");
        assertThat(client.call("large", 1)).isEqualTo("" + ((1L << 40) + 1));
        assertThat(client.call("read", 5)).isEqualTo("5textGREEN9me");
    }

    private static void assertCommonCalls(Generation.Client client, int number, String told) {
        assertThat(client.call("add", number)).isEqualTo("out" + told + (number + 1) + "RED2GREEN");
    }

    /**
     * Servers of the old and of the new version take turns while clients of both call. A call may meet the end of a
     * server, which is UNAVAILABLE with or without versions; nothing else may fail, and no value may be wrong.
     */
    @Test
    void shouldServeOldAndNewClientsThroughARollingUpgrade() {
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger answered = new AtomicInteger();
        RpcServer server = start(older);
        CompletableFuture<?>[] callers = new CompletableFuture<?>[4];
        for (int i = 0; i < callers.length; i++) {
            Generation generation = i % 2 == 0 ? older : newer;
            Generation.Client client = generation.client(openChannel());
            callers[i] = Concurrently.start(() -> {
                for (int number = 0; !over.get(); number++) {
                    if (isAnswered(client, number)) {
                        answered.incrementAndGet();
                    }
                }
                return true;
            });
        }
        for (Generation next : new Generation[] {newer, older, newer}) {
            awaitMore(answered, callers);
            server.close();
            server = start(next);
        }
        awaitMore(answered, callers);
        over.set(true);
        CompletableFuture.allOf(callers).join();
    }

    protected static void awaitMore(AtomicInteger answered, CompletableFuture<?>[] callers) {
        int before = answered.get();
        Await.until("200 more rounds of calls", () -> {
            for (CompletableFuture<?> caller : callers) {
                if (caller.isCompletedExceptionally()) {
                    caller.join();
                }
            }
            return answered.get() > before + 200;
        });
    }

    private static boolean isAnswered(Generation.Client client, int number) {
        try {
            assertCommonCalls(client, number);
            return true;
        } catch (RpcException e) {
            assertThat(e.code()).as("%s", e).isEqualTo(Status.Code.UNAVAILABLE);
            return false;
        }
    }
}
