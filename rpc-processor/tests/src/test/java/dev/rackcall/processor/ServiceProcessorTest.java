package dev.rackcall.processor;

import static com.google.testing.compile.CompilationSubject.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.testing.compile.Compilation;
import com.google.testing.compile.Compiler;
import com.google.testing.compile.JavaFileObjects;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Set;
import java.util.stream.Stream;
import javax.annotation.processing.AbstractProcessor;
import javax.annotation.processing.RoundEnvironment;
import javax.annotation.processing.SupportedAnnotationTypes;
import javax.lang.model.SourceVersion;
import javax.lang.model.element.TypeElement;
import javax.tools.Diagnostic;
import javax.tools.JavaFileObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The compiler's messages about services; the code generated for valid services compiles without warnings. */
class ServiceProcessorTest {
    private static final String IMPORTS = """
            package sample;

            import dev.rackcall.rpc.*;
            import dev.rackcall.shm.Ref;
            import dev.rackcall.shm.types.*;
            import java.util.*;
            import java.util.concurrent.*;
            import java.util.stream.*;

            """;

    private static final String DECLARATIONS = """
            class Query {}
            class Box<T> {}
            interface Plain { long id(); void id(long value); }
            abstract class Shape {}
            class Circle extends Shape {}
            record Pair<A, B>(A first, B second) {}
            record User(String name, Query query) {}
            record Endless(int depth, Endless next) {}
            record Grow<T>(Optional<Grow<List<T>>> next) {}
            sealed interface Half permits HalfRecord, HalfClass {}
            record HalfRecord(int x) implements Half {}
            final class HalfClass implements Half {}
            sealed interface Loop {}
            record Again(Loop loop) implements Loop {}
            sealed interface Own<A> permits OwnPair {}
            record OwnPair<A, B>(A a, B b) implements Own<A> {}
            enum Mood { GOOD }
            record Ping(Pong pong) {}
            record Pong(Ping ping) {}
            @Shared interface Document { long id(); void id(long value); }
            class Hidden { private record Secret(int x) {} private enum Mood { GOOD } }
            """;

    private static Arguments mistake(String method, String message) {
        return service("@RpcService(\"/shop/search\") interface Search { " + method + " }", message);
    }

    private static Arguments service(String declaration, String message) {
        return Arguments.of(declaration, message);
    }

    static Stream<Arguments> mistakesInValues() {
        return Stream.of(
                mistake(
                        "@Rpc int find(Query q);",
                        "Search.find: parameter 'q' has type sample.Query, which is neither a record, an enum, a collection,"
                                + " a sealed or @Shared interface nor listed in @RpcService(registered = ...); make it a record or"
                                + " register it"),
                mistake(
                        "@Rpc Query find();",
                        "Search.find: its result has type sample.Query, which is neither a record"),
                mistake(
                        "@Rpc int find(User user);",
                        "Search.find: parameter 'user' has type sample.User, whose component 'query' has type sample.Query,"
                                + " which is neither"),
                mistake(
                        "@Rpc int find(Map<String, List<Query>> q);",
                        "parameter 'q' has type java.util.Map<java.lang.String, java.util.List<sample.Query>>, whose value has"
                                + " type java.util.List<sample.Query>, whose element has type sample.Query, which"),
                mistake(
                        "@Rpc CompletableFuture<Query> find();",
                        "Search.find: its result has type java.util.concurrent.CompletableFuture<sample.Query>, whose element"
                                + " has type sample.Query"),
                mistake(
                        "@Rpc int find(Object any);",
                        "parameter 'any' has type java.lang.Object, a type of the JDK that"),
                mistake(
                        "@Rpc int find(Plain plain);",
                        "parameter 'plain' has type sample.Plain, which is an interface; annotate it with @Shared to pass its objects by"
                                + " pointer, make it sealed and its implementations records to pass one of them by value, or make"
                                + " it a record"),
                mistake(
                        "@Rpc int find(Runnable any);",
                        "has type java.lang.Runnable, a type of the JDK that Rackcall does not encode; pass a record"),
                mistake("@Rpc int find(Shape shape);", "parameter 'shape' has type sample.Shape, which is neither"),
                mistake(
                        "@Rpc int find(List q);",
                        "parameter 'q' has type java.util.List, without type arguments, so nothing says what to encode;"
                                + " write for example List<String>"),
                mistake("@Rpc int find(Map q);", "write for example Map<String, Long>"),
                mistake(
                        "@Rpc CompletableFuture find();",
                        "its result has type java.util.concurrent.CompletableFuture without a type argument"),
                mistake(
                        "@Rpc int find(List<? extends Number> q);",
                        "whose element is the wildcard ? extends java.lang.Number, which does not say what to encode"),
                mistake("@Rpc int find(List<?> q);", "whose element is the wildcard ?, which does not say"),
                mistake(
                        "@Rpc int find(ArrayList<String> q);",
                        "parameter 'q' has type java.util.ArrayList<java.lang.String>, and of collections only List, Set and"
                                + " Map travel"),
                mistake(
                        "@Rpc int find(dev.rackcall.shm.types.SharedString q);",
                        "a part of a shared object only; declare an interface with @Shared"),
                mistake(
                        "@Rpc dev.rackcall.shm.types.SharedStringMap<dev.rackcall.shm.types.SharedString> find();",
                        "a part of a shared object only; declare an interface with @Shared"),
                mistake("@Rpc int find(Collection<String> q);", "of collections only List, Set and Map travel"),
                mistake("@Rpc Iterator<String> find();", "of collections only List, Set and Map travel"),
                mistake("@Rpc int find(TreeMap<String, String> q);", "of collections only List, Set and Map travel"),
                mistake(
                        "@Rpc int find(List<String>... q);",
                        "and Java cannot create arrays of a generic type; use List<java.util.List<java.lang.String>>"),
                mistake("@Rpc int find(List<Stream<String>> q);", "a stream is a whole parameter or the whole result"),
                mistake("@Rpc int find(Stream q);", "parameter 'q' has type Stream without a type argument"),
                mistake(
                        "@Rpc int find(Stream<Thread> q);",
                        "'q' has type java.util.stream.Stream<java.lang.Thread>, whose"),
                mistake(
                        "@Rpc int find(Stream<Document> q);",
                        "a shared object is not; send records, or pass a SharedList"),
                mistake(
                        "@Rpc int find(java.util.concurrent.Flow.Publisher<String> q);",
                        "has type java.util.concurrent.Flow.Publisher<java.lang.String>; pass a Stream"),
                mistake(
                        "@Rpc int find(Stream<String> q, Stream<String> r);",
                        "Search.find: a call sends one stream, but 'q' and 'r' are two; send one stream of a sealed"),
                mistake(
                        "@Rpc(idempotent = true) int find(Stream<String> q);",
                        "can be read only once; remove idempotent"),
                mistake(
                        "@Rpc CompletableFuture<String> find(Stream<String> q);",
                        "returns a CompletableFuture, but a call that sends a stream is waited for; return the value itself"),
                mistake(
                        "@Rpc(oneWay = true) void find(Stream<String> q);",
                        "is one-way, but a call that sends a stream is waited for"),
                mistake(
                        "@Rpc(writes = true) int find(Document d, Stream<String> q);",
                        "a call that sends a stream may last long"),
                mistake("@Rpc IntStream find();", "a stream is a whole parameter or the whole result, as Stream<T>"),
                mistake(
                        "@Rpc CompletableFuture<Stream<String>> find();",
                        "a stream is a whole parameter or the whole result"),
                mistake(
                        "@Rpc int find(CompletableFuture<String> q);",
                        "and only a whole result can be a future; pass the value itself"),
                mistake("@Rpc Stream<CompletableFuture<String>> find();", "only a whole result can be a future"),
                mistake("@Rpc Void find();", "has type java.lang.Void, which has no values"),
                mistake("@Rpc Stream<Void> find();", "has type java.lang.Void, which has no values"),
                mistake(
                        "@Rpc int find(Pair q);",
                        "parameter 'q' has type sample.Pair, without type arguments, so nothing says what to encode; write for"
                                + " example Pair<String, String>"),
                mistake("@Rpc int find(Pair<String, ?> q);", "whose type argument is the wildcard ?"),
                mistake("@Rpc int find(Pair<String, Query> q);", "whose component 'second' has type sample.Query"),
                mistake("@Rpc int find(Grow<String> q);", "contains itself with other type arguments without an end"),
                mistake("@Rpc int find(Box<String> q);", "which is generic and no record; write a record"),
                mistake("@Rpc int find(Ref<Document> q);", "which is a pointer; write the @Shared interface itself"),
                mistake("@Rpc int find(Half q);", "which permits HalfClass, and that is neither a record"),
                mistake("@Rpc int find(Loop q);", "contains itself without an end"),
                mistake("@Rpc int find(Own<String> q);", "whose case OwnPair has a type parameter B of its own"),
                mistake(
                        "@Rpc int find(SharedList<Document> q);",
                        "which travels as a part of a shared object only; declare an interface with @Shared that has it as a"
                                + " field, 'SharedList<sample.Document> items(); void items(SharedList<sample.Document> value);',"
                                + " and pass that"),
                mistake(
                        "@Rpc int find(java.util.regex.Pattern q);",
                        "has type java.util.regex.Pattern, a type of the JDK that Rackcall does not encode; pass a record with"
                                + " the values that it contains, or its text"),
                mistake(
                        "record R(@Default(\"x\") int count) {} @Rpc int find(R q);",
                        "whose component 'count' of type int has @Default(\"x\"); write a value of that type, for example"
                                + " \"0\""),
                mistake("record R(@Default(\"300\") byte count) {} @Rpc int find(R q);", "has @Default(\"300\")"),
                mistake("record R(@Default(\"yes\") Boolean b) {} @Rpc int find(R q);", "\"true\" or \"false\""),
                mistake("record R(@Default(\"ab\") char c) {} @Rpc int find(R q);", "one character"),
                mistake(
                        "record R(@Default(\"BAD\") Mood m) {} @Rpc int find(R q);",
                        "of type Mood has @Default(\"BAD\"); write the name of one of its constants"),
                mistake("record R(@Default(\"a\") List<String> l) {} @Rpc int find(R q);", "is \"\", an empty one"),
                mistake(
                        "record R(@Default(\"\") Optional<String> o) {} @Rpc int find(R q);",
                        "it is empty where it is missing, so remove the annotation"),
                mistake(
                        "record R(@Default(\"PT1S\") java.time.Duration d) {} @Rpc int find(R q);",
                        "so make it Optional<Duration>"),
                mistake("@Rpc int find(Endless q);", "has type sample.Endless, which contains itself without an end"),
                mistake("@Rpc int find(Ping q);", "which contains itself without an end"),
                mistake(
                        "@Rpc CompletionStage<String> find();",
                        "return a CompletableFuture for one result or a Stream for many"),
                mistake("@Rpc Future<String> find();", "return a CompletableFuture for one result"),
                mistake("@Rpc Flow.Publisher<String> find();", "return a CompletableFuture for one result"));
    }

    static Stream<Arguments> mistakesInMethods() {
        return Stream.of(
                mistake(
                        "int find();",
                        "Search.find: every abstract method of a service is called remotely; add @Rpc, or give it a body"),
                mistake(
                        "@Rpc default int find() { return 1; }",
                        "Search.find: has a body, which runs at the caller; remove @Rpc"),
                mistake("@Rpc static int find() { return 1; }", "Search.find: has a body, which runs at the caller"),
                mistake(
                        "@Rpc(oneWay = true) int find();",
                        "Search.find: nothing comes back from @Rpc(oneWay = true), but it returns int; make it void"),
                mistake(
                        "@Rpc(oneWay = true, writes = true) void find(Document d);",
                        "Search.find: with @Rpc(writes = true) the caller sees the handler's stores when the one answer arrives,"
                                + " and a one-way call has none"),
                mistake(
                        "@Rpc(writes = true) Stream<String> find(Document d);",
                        "and a stream has many; return a value"),
                mistake(
                        "@Rpc(writes = true) int find(String q);",
                        "Search.find: @Rpc(writes = true) lets the handler store into shared objects, but no parameter is one"),
                mistake(
                        "@Rpc <T> int find();",
                        "Search.find: a call has fixed types, so the method cannot be generic; remove T"),
                mistake(
                        "@Rpc int find() throws java.io.IOException;",
                        "Search.find: declares java.io.IOException, but a failed call always arrives as RpcException"),
                service(
                        "interface A { @Rpc int find(); } interface B { @Rpc(idempotent = true) int find(); }"
                                + " @RpcService(\"/s\") interface Search extends A, B {}",
                        "Search.find: inherited from sample.A and, with another result or another @Rpc, from sample.B;"
                                + " declare it in Search again"),
                service(
                        "interface A { int find(); } @RpcService(\"/s\") interface Search extends A {}",
                        "Search.find: every abstract method"),
                service(
                        "interface A<T> { @Rpc T find(); } @RpcService(\"/s\") interface Search extends A<Query> {}",
                        "Search.find: its result has type sample.Query, which is neither"),
                service(
                        "class Search { @Rpc int find() { return 1; } }",
                        "Search.find: @Rpc means something only in an @RpcService interface"));
    }

    static Stream<Arguments> mistakesInServices() {
        return Stream.of(
                service(
                        "@RpcService(\"/s\") class Search {}",
                        "Search: @RpcService goes on an interface, but this is a class; extract an interface"),
                service("@RpcService(\"/s\") record Search() {}", "goes on an interface, but this is a record"),
                service("@RpcService(\"/s\") enum Search { A }", "goes on an interface, but this is a enum"),
                service(
                        "@RpcService(\"/s\") interface Search<T> {}",
                        "Search: a service has fixed types, so it cannot be generic"),
                service(
                        "@RpcService(\"/s\") sealed interface Search permits Local {} non-sealed interface Local extends Search {}",
                        "Search: the generated stub must implement it; remove sealed"),
                service(
                        "class Outer { @RpcService(\"/s\") private interface Search {} }",
                        "Search: generated code beside it cannot reach it, because Search is private"),
                service(
                        "class Outer { private static class Inner { @RpcService(\"/s\") interface Search {} } }",
                        "because Inner is private"),
                service(
                        "@RpcService(\"search\") interface Search {}",
                        "Search: the channel name \"search\" must be a path of letters, digits"),
                service("@RpcService(\"\") interface Search {}", "the channel name \"\" must be a path"),
                service("@RpcService(\"/\") interface Search {}", "the channel name \"/\" must be a path"),
                service("@RpcService(\"/a//b\") interface Search {}", "the channel name \"/a//b\" must be a path"),
                service("@RpcService(\"/a/../b\") interface Search {}", "the channel name \"/a/../b\" must be a path"),
                service("@RpcService(\"/a b\") interface Search {}", "the channel name \"/a b\" must be a path"),
                service(
                        "@RpcService(\"/" + "a".repeat(80) + "\") interface Search {}",
                        "has 81 characters; use 80 at most"),
                service(
                        "@RpcService(value = \"/s\", registered = Shape.class) interface Search {}",
                        "Search: registered lists sample.Shape, of which there are no objects; list the classes that"),
                service(
                        "@RpcService(value = \"/s\", registered = Thread.class) interface Search {}",
                        "Search: registered lists java.lang.Thread, whose fields the JDK hides from Kryo; pass a record"),
                service(
                        "@RpcService(value = \"/s\", registered = EnumMap.class) interface Search {}",
                        "registered lists java.util.EnumMap, whose fields the JDK hides"),
                service(
                        "class Oops extends RuntimeException {} @RpcService(value = \"/s\", registered = Oops.class) interface"
                                + " Search {}",
                        "registered lists sample.Oops, whose fields the JDK hides"),
                service(
                        "@RpcService(value = \"/s\", registered = Box.class) interface Search { @Rpc int f(Box<String> b); }",
                        "which is generic"),
                service(
                        "class A { @RpcService(\"/s\") interface B {} } @RpcService(\"/t\") interface A_B {}",
                        "the name of its generated class, A_B_Rpc, is taken; rename one of them"));
    }

    @ParameterizedTest
    @MethodSource({"mistakesInValues", "mistakesInMethods", "mistakesInServices"})
    void shouldSayWhatToChange(String declaration, String message) {
        Compilation compilation = Compiler.javac()
                .withProcessors(new RackcallProcessor())
                .compile(source("sample.Search", IMPORTS + declaration + "\n" + DECLARATIONS));
        assertThat(compilation).failed();
        assertThat(compilation).hadErrorContaining(message);
    }

    @Test
    void shouldReportAllMistakesAtTheirMethods() {
        Compilation compilation = Compiler.javac()
                .withProcessors(new RackcallProcessor())
                .compile(source("sample.Search", IMPORTS + """
                        @RpcService("/shop/search")
                        interface Search {
                            @Rpc int first(Query q, List more);
                            int second();
                        }
                        """ + DECLARATIONS));
        JavaFileObject file = compilation.sourceFiles().get(0);
        assertThat(compilation).hadErrorCount(3);
        assertThat(compilation).hadErrorContaining("'q'").inFile(file).onLineContaining("first(");
        assertThat(compilation).hadErrorContaining("'more'").inFile(file).onLineContaining("first(");
        assertThat(compilation).hadErrorContaining("Search.second").inFile(file).onLineContaining("second(");
    }

    @Test
    void shouldWarnOfAnInterfaceThatIsNoService() {
        JavaFileObject forgotten =
                source("sample.Search", IMPORTS + "interface Search { @Rpc int find(String word); }");
        Compilation compilation =
                Compiler.javac().withProcessors(new RackcallProcessor()).compile(forgotten);
        assertThat(compilation)
                .hadWarningContaining(
                        "Search: has @Rpc methods but is no service, so nothing is generated for it; annotate it")
                .inFile(forgotten)
                .onLineContaining("interface Search");
        assertThat(compilation).hadWarningCount(1);
    }

    @Test
    void shouldNotWarnOfAnInterfaceThatAServiceExtends() {
        assertThat(Compiler.javac()
                        .withProcessors(new RackcallProcessor())
                        .compile(
                                source("sample.Base", IMPORTS + "interface Base { @Rpc int find(String word); }"),
                                source("sample.Middle", "package sample; interface Middle extends Base {}"),
                                source(
                                        "sample.Search",
                                        IMPORTS + "@RpcService(\"/s\") interface Search extends Middle {}")))
                .succeededWithoutWarnings();
    }

    @Test
    void shouldNeedAccessToWhatItEncodes() {
        Compilation compilation = Compiler.javac()
                .withProcessors(new RackcallProcessor())
                .compile(
                        source("other.Model", "package other; public class Model { record Inner(int x) {} }"),
                        source("other.Base", """
                                package other;
                                import dev.rackcall.rpc.Rpc;
                                public interface Base { @Rpc int find(Model.Inner inner); }
                                """),
                        source(
                                "sample.Search",
                                IMPORTS + "@RpcService(\"/s\") interface Search extends other.Base {}"));
        assertThat(compilation).hadErrorCount(1);
        assertThat(compilation)
                .hadErrorContaining(
                        "Search.find: parameter 'inner' has type other.Model.Inner, which the generated code in"
                                + " package sample cannot reach; make Inner public");
    }

    @Test
    void shouldNameTheLibraryWhoseSharedTypesWereNotProcessed(@TempDir Path library) throws IOException {
        JavaFileObject shared = source(
                "lib.Note",
                "package lib; @dev.rackcall.shm.types.Shared public interface Note { long id(); void id(long value); }");
        Compilation unprocessed = Compiler.javac().compile(shared);
        assertThat(unprocessed).succeeded();
        Path folder = Files.createDirectories(library.resolve("lib"));
        for (JavaFileObject each : unprocessed.generatedFiles()) {
            try (InputStream in = each.openInputStream()) {
                Files.write(folder.resolve("Note.class"), in.readAllBytes());
            }
        }
        String classPath = library + File.pathSeparator + System.getProperty("java.class.path");
        Compilation compilation = Compiler.javac()
                .withOptions("-cp", classPath)
                .withProcessors(new RackcallProcessor())
                .compile(source("sample.Search", IMPORTS + """
                        @RpcService("/s") interface Search { @Rpc long find(lib.Note note); }
                        @Shared interface Holder { lib.Note note(); void note(lib.Note value); }
                        """));
        String what = "lib.Note was compiled without Rackcall's annotation processor, so its class lib.Note_Shared is"
                + " missing; add the processor to the build of the library";
        assertThat(compilation).hadErrorContaining("Search: " + what);
        assertThat(compilation).hadErrorContaining("Holder.note: " + what);
    }

    @Test
    void shouldAcceptJdkClassesThatKryoCanEncode() {
        assertThat(compileStrictly(source("sample.Search", IMPORTS + """
                        @RpcService(value = "/s", registered = {java.net.URI.class, Date.class, ArrayDeque.class, Locale.class,
                            int[].class, java.time.DayOfWeek.class})
                        interface Search { @Rpc Object find(Object any); }
                        """))).succeededWithoutWarnings();
    }

    private static Compilation compileStrictly(JavaFileObject... sources) {
        return Compiler.javac()
                .withOptions("-Xlint:all,-processing", "-Werror")
                .withProcessors(new RackcallProcessor())
                .compile(sources);
    }

    @Test
    void shouldNameTheModuleThatLetsBytesTravel() {
        JavaFileObject bytes = source(
                "net.openhft.chronicle.bytes.Bytes",
                "package net.openhft.chronicle.bytes; public interface Bytes<U> {}");
        assertThat(compileStrictly(bytes, takingBytes("Bytes<?>")))
                .hadErrorContaining("add dev.rackcall:rackcall-chronicle to the dependencies");
        assertThat(compileStrictly(bytes, takingBytes("Bytes<byte[]>"))).hadErrorContaining("write Bytes<?>");
    }

    private static JavaFileObject takingBytes(String type) {
        return source(
                "sample.Papers",
                IMPORTS
                        + "import net.openhft.chronicle.bytes.Bytes;\n@RpcService(\"/papers\") public interface Papers { @Rpc int sum("
                        + type + " bytes); }");
    }

    @Test
    void shouldGenerateCodeWithoutWarnings() {
        Compilation compilation = compileStrictly(source("sample.Shop", IMPORTS + """
                public interface Shop {
                    @Deprecated enum Old { A }
                    record Item(int x, Old old, List<Item> parts) {}
                    @Shared interface Document { long id(); void id(long value); }
                    class Legacy {}
                    @RpcService(value = "/shop", registered = Legacy.class)
                    interface Desk {
                        @Deprecated @Rpc void forget(Old... old);
                        @Rpc Stream<Item> items(Set<Item> item, Optional<Item> other, int... numbers);
                        @Rpc CompletableFuture<Map<Long, Document>> documents(List<Document> documents, Document... more);
                        @Rpc Legacy legacy(Legacy legacy);
                        @Rpc(oneWay = true) void tell(String what);
                    }
                }
                """));
        assertThat(compilation).succeededWithoutWarnings();
        assertThat(compilation)
                .generatedSourceFile("sample.Shop_Desk_Rpc")
                .contentsAsUtf8String()
                .contains("""
                        public void tell(String what) {
                            if (calls.isIntercepted()) {
                                calls.intercept(TELL, plain -> {
                                            new Shop_Desk_Rpc.Stub(plain).tell(what);
                                            return null;
                                        });
                                return;
                            }
                            ClientCall call = calls.begin(TELL);
                            try {
                                PayloadWriter out = call.arguments();
                                out.writeString(what, "what");
                                call.invokeOneWay();
                            } catch (Throwable t) {
                                throw ClientCall.failed(call.abandon(t));
                            }
                        }
                """);
    }

    @Test
    void shouldCompileWithoutAnyWarningOfTheCompiler() {
        assertThat(Compiler.javac()
                        .withOptions("-Xlint:all", "-Werror")
                        .withProcessors(new RackcallProcessor())
                        .compile(source("sample.Shop", IMPORTS + """
                                public interface Shop {
                                    record Item(@Default("3") int x, Set<Item> parts) {}
                                    sealed interface Shape<T> permits Circle, Square {}
                                    record Circle<T>(T radius) implements Shape<T> {}
                                    enum Square implements Shape<Integer> { UNIT }
                                    @Shared interface Size { int width(); void width(int value); }
                                    @Shared interface Document {
                                        @dev.rackcall.shm.types.FixedString(8) String name();
                                        void name(String value);
                                        @dev.rackcall.shm.types.Inline Size size();
                                        @dev.rackcall.shm.types.Length(4) dev.rackcall.shm.types.SharedIntArray parts();
                                        Document next();
                                        void next(Document value);
                                    }
                                    @RpcService("/shop")
                                    interface Desk {
                                        @Rpc Stream<Item> items(Set<Item> item, Map<String, Item[]> other, int... numbers);
                                        @Rpc Shape<Integer> shape(Shape<Integer> shape, Circle<List<Document>> other);
                                        @Rpc(writes = true) CompletableFuture<Document> store(Document first, Item item);
                                    }
                                }
                                """)))
                .succeededWithoutWarnings();
    }

    @Test
    void shouldEncodeGenericRecordsSealedInterfacesAndDefaults() throws IOException {
        String generated = generated(IMPORTS + """
                @RpcService("/s")
                interface Search {
                    enum Mood { GOOD, BAD }
                    record Page<T>(List<T> items, Optional<Page<T>> next) {}
                    sealed interface Result<T> permits Ok, Err, Other {}
                    record Ok<T>(T value) implements Result<T> {}
                    sealed interface Err<X> extends Result<X> {}
                    record Late<X>() implements Err<X> {}
                    record Lost<X>(String why, Result<X> before) implements Err<X> {}
                    record Other() implements Result<Long> {}
                    record Item(@Default("-7") int count, @Default("a\\"\\u00e9\\n") String text, @Default("BAD") Mood mood,
                        @Default("") List<String> tags, @Default("1") double weight, @Default("") int[] sizes) {}
                    @Rpc Page<Item> items(Page<Page<String>> page, Result<Item> result);
                }
                """);
        assertThat(generated)
                .contains(
                        "record sample.Search.Page<sample.Search.Item>(java.util.List<sample.Search.Item> items,"
                                + " java.util.Optional<sample.Search.Page<sample.Search.Item>> next)",
                        "oneof sample.Search.Result<sample.Search.Item>{sample.Search.Ok<sample.Search.Item>,"
                                + " sample.Search.Late<sample.Search.Item>, sample.Search.Lost<sample.Search.Item>}",
                        "record sample.Search.Item(int count = \\\"-7\\\", java.lang.String text ="
                                + " \\\"a\\\\u0022\\\\u00e9\\\\u000a\\\", sample.Search.Mood mood = \\\"BAD\\\",",
                        "double weight = \\\"1.0\\\"");
    }

    /** The record's class file has the annotation. */
    @Test
    void shouldReadDefaultsOfRecordsOfALibrary(@TempDir Path library) throws IOException {
        Path folder = Files.createDirectories(library.resolve("lib"));
        Compilation first = Compiler.javac()
                .compile(source(
                        "lib.Item", "package lib; public record Item<T>(@dev.rackcall.rpc.Default(\"7\") T count) {}"));
        for (JavaFileObject each : first.generatedFiles()) {
            try (InputStream in = each.openInputStream()) {
                Files.write(folder.resolve("Item.class"), in.readAllBytes());
            }
        }
        Compilation compilation = Compiler.javac()
                .withOptions("-cp", library + File.pathSeparator + System.getProperty("java.class.path"))
                .withProcessors(new RackcallProcessor())
                .compile(source(
                        "sample.Search",
                        IMPORTS + "@RpcService(\"/s\") interface Search { @Rpc long find(lib.Item<Long> item); }"));
        assertThat(compilation)
                .generatedSourceFile("sample.Search_Rpc")
                .contentsAsUtf8String()
                .contains("record lib.Item<java.lang.Long>(java.lang.Long count = \\\"7\\\")");
    }

    /** Names that generated code, its imports or its locals also use. */
    @Test
    void shouldLetAuthorsNameThingsAsTheyLike() {
        String service = """
                @RpcService("/odd")
                public interface Odd {
                    @Target(ElementType.TYPE_USE) @interface Nullable {}
                    record List(int x) {}
                    record Stub(List list, java.util.List<List> more) {}
                    record Serving(java.util.Optional<Stub> a, java.util.Map<List, Stub[]> b, byte[][] c) {}
                    record MethodDescriptor(int value, int at, int count, int i, int in, int call, int out, int in_, int e) {}
                    record PayloadWriter(int key) {}
                    record String_(int name) {}
                    enum Dispatcher { A }
                    int PUT = 1;
                    int FOO = 2;
                    int METHODS = 3;
                    @Rpc void put();
                    @Rpc void foo();
                    @Rpc void METHODS();
                    @Rpc void DESCRIPTION();
                    @Rpc void type();
                    @Rpc List readOddList(int list);
                    @Rpc void writeOddList(List list);
                    @Rpc @Nullable String text(@Nullable String $x, java.util.List<@Nullable String> $$y, @Nullable Long z);
                    @Rpc Serving dispatch(Serving s);
                    @Rpc Stub stub(Stub s, MethodDescriptor d, PayloadWriter w, Dispatcher e);
                    @Rpc java.util.concurrent.CompletableFuture<String_> fooBar();
                    @Rpc java.util.stream.Stream<long[]> foo_bar();
                    @Rpc java.util.Optional<Optional> fooBAR();
                    @Rpc int get(boolean calls, int service, long method, int name, int result, int t, int e, int in, int out);
                    @Rpc int get(int... i);
                    @Rpc int get(long... i);
                }
                """;
        assertThat(compileStrictly(
                        source("sample.Odd", """
                                package sample;
                                import dev.rackcall.rpc.*;
                                import java.lang.annotation.*;
                                """ + service),
                        source("sample.List", "package sample; public record List(String top) {}"),
                        source("sample.Optional", "package sample; public record Optional(String top) {}"),
                        source("sample.Stub", "package sample; public record Stub(String top) {}")))
                .succeededWithoutWarnings();
    }

    @Test
    void shouldWorkInTheUnnamedPackage() {
        assertThat(compileStrictly(source("Search", """
                        import dev.rackcall.rpc.*;
                        @RpcService("/s") interface Search { record Q(String q) {} @Rpc int find(Q q); }
                        """))).succeededWithoutWarnings();
    }

    @Test
    void shouldNotCareInWhichOrderMethodsStand() throws IOException {
        String[] methods = {
            "@Rpc int size();",
            "@Rpc long put(String key, byte[] value);",
            "@Rpc long put(String key);",
            "@Rpc void clear();"
        };
        String forward =
                generated(IMPORTS + "@RpcService(\"/s\") interface Search {" + String.join("\n", methods) + "}");
        String[] reversed = methods.clone();
        Collections.reverse(Arrays.asList(reversed));
        assertThat(generated(IMPORTS + "@RpcService(\"/s\") interface Search {" + String.join("\n", reversed) + "}"))
                .isEqualTo(forward);
    }

    /** The fingerprint changes with the contract of the two ends and with nothing else. */
    @Test
    void shouldFingerprintWhatBothEndsMustAgreeOn() throws IOException {
        String service = """
                @RpcService(value = "/s", registered = Search.Legacy.class)
                interface Search {
                    @Rpc(idempotent = false) int find(Query q, Color color, Document d);
                    record Query(Tag tag) {}
                    record Tag(String name, int weight) {}
                    enum Color { RED, GREEN }
                    class Legacy { int year; }
                    @Shared interface Document { long id(); void id(long value); Ref<Author> author(); void author(Ref<Author> v); }
                    @Shared interface Author { int born(); void born(int value); }
                }
                """;
        String[][] changes = {
            {"\"/s\"", "\"/t\""},
            {"int find", "long find"},
            {"Query q,", "Query r,"},
            {"String name, int weight", "int weight, String name"},
            {"int weight", "long weight"},
            {"RED, GREEN", "GREEN, RED"},
            {"int year", "long year"},
            {"long id(); void id(long value)", "int id(); void id(int value)"},
            {"int born(); void born(int value)", "long born(); void born(long value)"},
            {"@Rpc(idempotent = false) int find", "@Rpc CompletableFuture<Integer> find"},
            {"idempotent = false", "writes = true"}
        };
        long original = fingerprint(service);
        assertThat(fingerprint(service)).isEqualTo(original);
        assertThat(fingerprint(service.replace("idempotent = false", "idempotent = true")))
                .isEqualTo(original);
        for (String[] change : changes) {
            String changed = service.replace(change[0], change[1]);
            assertThat(changed).as("%s in %s", change[0], service).isNotEqualTo(service);
            assertThat(fingerprint(changed)).as("with %s", change[1]).isNotEqualTo(original);
        }
    }

    private static long fingerprint(String declarations) throws IOException {
        String source = generated(IMPORTS + declarations);
        int at = source.indexOf("FINGERPRINT = 0x") + "FINGERPRINT = 0x".length();
        return Long.parseUnsignedLong(source.substring(at, source.indexOf("L;", at)), 16);
    }

    private static String generated(String service) throws IOException {
        Compilation compilation = compileStrictly(source("sample.Search", service));
        assertThat(compilation).succeeded();
        return compilation
                .generatedSourceFile("sample.Search_Rpc")
                .orElseThrow()
                .getCharContent(false)
                .toString();
    }

    @Test
    void shouldWaitForTypesThatOtherProcessorsGenerate() {
        Compilation compilation = Compiler.javac()
                .withProcessors(new RackcallProcessor(), new QueryGenerator())
                .compile(source(
                        "sample.Search",
                        IMPORTS + "@RpcService(\"/s\") interface Search { @Rpc int find(GeneratedQuery q); }"));
        assertThat(compilation).succeeded();
        assertThat(compilation)
                .generatedSourceFile("sample.Search_Rpc")
                .contentsAsUtf8String()
                .contains("readGeneratedQuery");
    }

    @Test
    void shouldLeaveMissingTypesToTheCompiler() {
        Compilation compilation = Compiler.javac()
                .withProcessors(new RackcallProcessor())
                .compile(source(
                        "sample.Search",
                        IMPORTS + "@RpcService(\"/s\") interface Search { @Rpc int find(Missing q); }"));
        assertThat(compilation.errors())
                .extracting(error -> error.getMessage(null))
                .singleElement()
                .asString()
                .contains("cannot find symbol", "class Missing");
        assertThat(compilation.diagnostics()).noneMatch(each -> each.getKind() == Diagnostic.Kind.WARNING);
    }

    /** Generates a record in its first round. */
    @SupportedAnnotationTypes("*")
    private static final class QueryGenerator extends AbstractProcessor {
        private boolean done;

        @Override
        public SourceVersion getSupportedSourceVersion() {
            return SourceVersion.latestSupported();
        }

        @Override
        public boolean process(Set<? extends TypeElement> annotations, RoundEnvironment round) {
            if (!done) {
                done = true;
                try (Writer source = processingEnv
                        .getFiler()
                        .createSourceFile("sample.GeneratedQuery")
                        .openWriter()) {
                    source.write("package sample; record GeneratedQuery(String text) {}");
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
            return false;
        }
    }

    private static JavaFileObject source(String name, String text) {
        return JavaFileObjects.forSourceString(name, text);
    }
}
