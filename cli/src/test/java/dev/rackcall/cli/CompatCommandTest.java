package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What {@code rackcall compat} says of two versions of a service. */
class CompatCommandTest {
    private static final String SHOP = """
            package shop;
            import dev.rackcall.rpc.*;
            import dev.rackcall.shm.types.*;
            import java.util.*;
            @RpcService("/shop/cart")
            public interface Cart {
                enum Size { SMALL, LARGE }
                record Item(String name, int count, Size size) {}
                @Shared interface Page { long id(); void id(long value); Size size(); void size(Size value); }
                @Rpc void add(Item item);
                @Rpc List<Item> items();
                @Rpc long words(Page page);
            }
            """;

    @TempDir
    private Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private Path compile(String name, String source) throws Exception {
        Path classes = Files.createDirectories(folder.resolve(name));
        Path file = Files.writeString(
                Files.createDirectories(folder.resolve("src-" + name)).resolve("Cart.java"), source);
        String classPath = System.getProperty("java.class.path");
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> options = List.of(
                "-d",
                classes.toString(),
                "-cp",
                classPath,
                "-processorpath",
                classPath,
                "-processor",
                "dev.rackcall.processor.RackcallProcessor",
                file.toString());
        assertThat(compiler.run(null, null, null, options.toArray(String[]::new)))
                .isZero();
        return classes;
    }

    private int compat(Path older, Path newer) {
        CommandLine command = RackcallCommand.commandLine();
        command.setOut(new PrintWriter(out, true));
        command.setErr(new PrintWriter(err, true));
        return command.execute("compat", older.toString(), newer.toString());
    }

    private int compatWith(String from, String to) throws Exception {
        String changed = SHOP.replace(from, to);
        assertThat(changed).isNotEqualTo(SHOP);
        return compat(compile("old", SHOP), compile("new", changed));
    }

    private Path jar(String name, String source) throws Exception {
        Path classes = compile(name, source);
        Path jar = folder.resolve(name + ".jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
                Files.copy(file, out);
            }
        }
        return jar;
    }

    @Test
    void shouldCompareJars() throws Exception {
        Path older = jar("cart-1.0", SHOP);
        Path newer = jar("cart-1.1", SHOP.replace("Size size) {}", "Size size, @Default(\"a b\") String note) {}"));
        assertThat(compat(older, newer)).isZero();
        assertThat(out.toString()).contains("it is 'a b'", "can call each other");
        assertThat(compat(newer, older)).isZero();
    }

    @Test
    void shouldAcceptAnEqualVersion() throws Exception {
        assertThat(compat(compile("old", SHOP), compile("new", SHOP))).isZero();
        assertThat(out.toString()).contains("/shop/cart (shop.Cart): unchanged");
    }

    @Test
    void shouldAcceptWhatIsAdded() throws Exception {
        String changed = SHOP.replace("Size size) {}", "Size size, Optional<String> note) {}")
                .replace("{ SMALL, LARGE }", "{ SMALL, LARGE, HUGE }")
                .replace("int count", "long count")
                .replace(
                        "void size(Size value);",
                        "void size(Size value); @Since(2) int lines(); void lines(int value);")
                .replace("@Rpc void add(Item item);", "@Rpc void add(Item item); @Rpc void clear();");
        assertThat(compat(compile("old", SHOP), compile("new", changed))).isZero();
        assertThat(out.toString())
                .contains(
                        "/shop/cart (shop.Cart): compatible",
                        "'Optional<String> note'",
                        "HUGE",
                        "int",
                        "'void clear()'")
                .contains("@Since", "can call each other")
                .doesNotContain("breaks");
    }

    @Test
    void shouldReportAnotherIsolationOfSharedArguments() throws Exception {
        assertThat(compatWith(
                        "@RpcService(\"/shop/cart\")",
                        "@RpcService(value = \"/shop/cart\", isolation = Isolation.SNAPSHOT)"))
                .isZero();
        assertThat(out.toString())
                .contains("/shop/cart (shop.Cart): compatible")
                .contains(
                        "the isolation of method 'long words(Cart.Page page)' is SNAPSHOT in the new version and TRUSTED in"
                                + " the old version: calls between the two use SNAPSHOT, the stricter one")
                .doesNotContain("'void add", "breaks");
    }

    @Test
    void shouldSayInWordsThatAHandlerMayStoreIntoItsArguments() throws Exception {
        assertThat(compatWith("@Rpc long words", "@Rpc(writes = true) long words"))
                .isEqualTo(1);
        assertThat(out.toString())
                .contains(
                        "method 'long words(Cart.Page page)' is a call with an answer whose handler may store into its arguments"
                                + " (@Rpc(writes = true)) in the new version and a call with an answer in the old version")
                .doesNotContain("unary");
    }

    @Test
    void shouldRefuseAComponentThatIsNotOptional() throws Exception {
        assertThat(compatWith("Size size) {}", "Size size, String note) {}")).isEqualTo(1);
        assertThat(out.toString())
                .contains("breaks", "'String note'", "make it Optional<String>", "cannot call each other");
    }

    @Test
    void shouldAcceptComponentsWithDefaultsAndWiderParameters() throws Exception {
        String changed = SHOP.replace("Size size) {}", "Size size, @Default(\"1\") int parcels) {}")
                .replace("long words(Page page)", "int words(Page page)")
                .replace("List<Item> items()", "List<Item> items(long from)");
        String before = SHOP.replace("List<Item> items()", "List<Item> items(int from)");
        assertThat(compat(compile("old", before), compile("new", changed))).isZero();
        assertThat(out.toString())
                .contains(
                        "component 'int parcels' of record Cart.Item exists only in the new version: in a record of the other"
                                + " side it is '1'",
                        "parameter from of items is long in the new version and int in the old version: a call with a number that"
                                + " does not fit fails",
                        "the result of words is int in the new version and long in the old version");
    }

    @Test
    void shouldAcceptCasesOfASealedInterface() throws Exception {
        String before = SHOP.replace("@Rpc void add(Item item);", """
                sealed interface Price<T> permits Fixed {}
                record Fixed<T>(T cents) implements Price<T> {}
                @Rpc void add(Item item);
                @Rpc Price<Integer> price(String name);
                """);
        String changed = before.replace("permits Fixed {}", "permits Fixed, Asked {}")
                .replace(
                        "record Fixed<T>",
                        "record Asked<T>(Optional<T> highest) implements Price<T> {} record Fixed<T>")
                .replace("Price<Integer> price", "Price<Long> price");
        assertThat(compat(compile("old", before), compile("new", changed))).isZero();
        assertThat(out.toString())
                .contains(
                        "sealed interface Cart.Price<Long> has Cart.Asked only in the new version: a call that passes it to the"
                                + " other side fails",
                        "component cents of record Cart.Fixed<Long> is long in the new version and int in the old version");
    }

    @Test
    void shouldSayWhyASharedFieldCannotBecomeWider() throws Exception {
        assertThat(compatWith("long id(); void id(long value);", "int id(); void id(int value);"))
                .isEqualTo(1);
        assertThat(out.toString())
                .contains(
                        "shared type Cart.Page",
                        "both sides use the same memory, so fields keep their types and widths");
    }

    @Test
    void shouldRefuseAnotherType() throws Exception {
        assertThat(compatWith("String name", "long name")).isEqualTo(1);
        assertThat(out.toString()).contains("component name of record Cart.Item is long in the new version and String");
    }

    @Test
    void shouldRefuseAnotherOrder() throws Exception {
        assertThat(compatWith("String name, int count", "int count, String name"))
                .isEqualTo(1);
        assertThat(out.toString()).contains("keep the order");
    }

    @Test
    void shouldRefuseOtherParameters() throws Exception {
        assertThat(compatWith("long words(Page page)", "long words(Page page, int from)"))
                .isEqualTo(1);
        assertThat(out.toString()).contains("words(Cart.Page page, int from)", "add another method");
    }

    @Test
    void shouldRefuseASharedFieldWithoutSince() throws Exception {
        assertThat(compatWith("void size(Size value);", "void size(Size value); int lines(); void lines(int value);"))
                .isEqualTo(1);
        assertThat(out.toString()).contains("shared type Cart.Page", "higher @Since");
    }

    @Test
    void shouldRefuseSharedConstantsThatMove() throws Exception {
        assertThat(compatWith("{ SMALL, LARGE }", "{ TINY, SMALL, LARGE }")).isEqualTo(1);
        assertThat(out.toString()).contains("constants at the end of an enum");
    }

    @Test
    void shouldSayWhatIsNoServiceAndWhatIsMissing() throws Exception {
        Path empty = Files.createDirectories(folder.resolve("empty"));
        assertThat(compat(empty, empty)).isEqualTo(2);
        assertThat(err.toString()).contains("OLD " + empty, "holds no service");
        assertThat(compat(folder.resolve("none.jar"), empty)).isEqualTo(2);
        assertThat(err.toString()).contains("there is no");
        assertThat(compatWith("/shop/cart", "/shop/basket")).isEqualTo(1);
        assertThat(out.toString()).contains("its service is missing", "/shop/basket (shop.Cart): new");
    }
}
