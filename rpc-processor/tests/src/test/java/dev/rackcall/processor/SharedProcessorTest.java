package dev.rackcall.processor;

import static com.google.testing.compile.CompilationSubject.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.testing.compile.Compilation;
import com.google.testing.compile.Compiler;
import com.google.testing.compile.JavaFileObjects;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedRecord;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.tools.JavaFileObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The compiler's messages about shared interfaces; the classes generated for valid interfaces compile without warnings.
 */
class SharedProcessorTest {
    private static final String IMPORTS = """
            package sample;

            import dev.rackcall.shm.Ref;
            import dev.rackcall.shm.types.*;
            import java.util.*;

            """;

    static Stream<Arguments> mistakes() {
        return Stream.of(
                mistake("long id();", "Document.id: has a getter but no setter; add void id(long value)"),
                mistake("void id(long value);", "Document.id: has a setter but no getter; add long id()"),
                mistake(
                        "String title(); void title(int value);",
                        "Document.title: setter takes int but getter returns java.lang.String; make them the same type"),
                mistake(
                        "int year(); void year(int value); void year(long value);",
                        "Document.year: has 2 setters, for [int, long]; keep only the one for int"),
                mistake(
                        "int year(); int year(int value);",
                        "Document.year: a setter returns void or Document, not int"),
                mistake(
                        "Document next(); boolean next(Document into);",
                        "Document.next: a setter returns void or Document, not boolean"),
                mistake(
                        "Ref<Document> next(); boolean next(Document into);",
                        "Document.next: has a getter but no setter; add void next(dev.rackcall.shm.Ref<sample.Document> value)"),
                mistake(
                        "long getPrice(); void setPrice(long value);",
                        "Document.getPrice: both accessors of a field have its name, without get or set; write long price() and void"
                                + " price(long value)"),
                mistake("void setPrice(long value);", "Document.setPrice: both accessors", "long price()"),
                mistake(
                        "boolean isOpen(); void setOpen(boolean value);",
                        "Document.isOpen: both accessors",
                        "boolean open()"),
                mistake("void find();", "Document.find: a shared interface holds accessors"),
                mistake("int find(int from, int to);", "make this one default or static, or remove it"),
                mistake("<T> T any();", "Document.any: a shared interface holds accessors"),
                mistake(
                        "int hashCode(); void hashCode(int value);",
                        "Document.hashCode: the generated class inherits a method of that name; rename it"),
                mistake("int clone(); void clone(int value);", "inherits a method of that name; rename it"),
                mistake("default long getLong(long offset) { return 1; }", "inherits a method of that name; rename it"),
                mistake("Missing x(); void x(Missing value);", "Document.x: Missing cannot be found; is an import"),
                mistake("long getLong(); void getLong(long value);", "inherits a method of that name; rename it"),
                mistake(
                        "Integer year(); void year(Integer value);",
                        "Document.year: java.lang.Integer is not supported; use int"),
                mistake("List<String> tags(); void tags(List<String> value);", "use SharedList"),
                mistake("Map<String, Long> m(); void m(Map<String, Long> v);", "use SharedStringMap or SharedLongMap"),
                mistake(
                        "SharedMap<Document> m(); void m(SharedMap<Document> v);",
                        "use SharedStringMap or SharedLongMap"),
                mistake("long[] scores(); void scores(long[] value);", "use a Shared...Array of long, with @Length(n)"),
                mistake(
                        "Date day(); void day(Date value);",
                        "Document.day: java.util.Date is not supported; supported are"),
                mistake(
                        "Runnable job(); void job(Runnable value);",
                        "Runnable is not a shared type; annotate it with @Shared"),
                mistake(
                        "Optional<Integer> n(); void n(Optional<Integer> value);",
                        "java.lang.Integer is not supported; use int"),
                mistake(
                        "Optional<? extends Document> n(); void n(Optional<? extends Document> v);",
                        "is not supported"),
                mistake(
                        "SharedList<Integer> n(); void n(SharedList<Integer> value);",
                        "give SharedList a shared type as its argument"),
                mistake(
                        "SharedInlineArray<SharedString> n(); void n(SharedInlineArray<SharedString> value);",
                        "its elements are @Shared interfaces with fields, none of them @Since; for all others use SharedArray"),
                mistake(
                        "SharedInlineArray<Empty> n(); void n(SharedInlineArray<Empty> value);",
                        "its elements are @Shared interfaces with fields"),
                mistake(
                        "SharedInlineArray<Latest> n(); void n(SharedInlineArray<Latest> value);",
                        "none of them @Since"),
                mistake("SharedInlineArray<Later> n(); void n(SharedInlineArray<Later> value);", "none of them @Since"),
                mistake(
                        "Ref<String> name(); void name(Ref<String> value);",
                        "Document.name: java.lang.String is not supported"),
                mistake(
                        "@FixedString(8) int code(); void code(int value);",
                        "@FixedString goes on a String, not on int"),
                mistake(
                        "@FixedString(0) String code(); void code(String value);",
                        "@FixedString(0) must be between 1 and 65535"),
                mistake("@FixedString(65536) String code(); void code(String value);", "must be between 1 and 65535"),
                mistake("@Inline String name(); void name(String value);", "@Inline goes on a @Shared interface"),
                mistake(
                        "@Inline Point at(); void at(Point value);",
                        "Document.at: lies inside the record",
                        "remove the setter"),
                mistake("@Length(2) String name(); void name(String value);", "@Length goes on SharedBytes"),
                mistake("@Length(0) SharedBytes name();", "@Length(0) must be between 1 and"),
                mistake("@Length(2) SharedBytes name(); void name(SharedBytes value);", "remove the setter"),
                mistake("@Length(200000000) SharedLongArray scores();", "larger than 1073741824 bytes"),
                mistake("@Inline @Length(2) SharedBytes name();", "more than one of @FixedString, @Length and @Inline"),
                mistake(
                        "@Inline Document self();",
                        "Document.self: @Inline types contain each other without end: Document -> Document"),
                mistake(
                        "@Inline Loop loop();",
                        "Document.loop: @Inline types contain each other without end: Document -> Loop -> Document"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("mistakes")
    void shouldSayWhatToChange(String body, String[] messages) {
        Compilation compilation = compile(source(
                "Document",
                "@Shared public interface Document { " + body + " }"
                        + " @Shared interface Point { int x(); void x(int v); }"
                        + " @Shared interface Later { int x(); void x(int v); @Since(2) int y(); void y(int v); }"
                        + " @Shared interface Latest extends Later {} @Shared interface Empty {}"
                        + " @Shared interface Loop { @Inline Document document(); }"));
        assertThat(compilation).failed();
        for (String message : messages) {
            assertThat(compilation).hadErrorContaining(message);
        }
    }

    static Stream<Arguments> declarations() {
        return Stream.of(
                mistake("@Shared class Document {}", "Document: @Shared goes on an interface"),
                mistake("@Shared record Document(int x) {}", "Document: @Shared goes on an interface"),
                mistake("@Shared interface Document<T> {}", "cannot be generic; remove T"),
                mistake(
                        "class Outer { @Shared private interface Document {} }",
                        "make Document package-private or public"),
                mistake(
                        "@Shared sealed interface Document permits Other {} final class Other implements Document {}",
                        "remove sealed"),
                mistake(
                        "interface Named<T> { T name(); void name(T value); }"
                                + " @Shared interface Document extends Named<String> {}",
                        "Document: extends the generic sample.Named<java.lang.String>"),
                mistake(
                        "class A { @Shared interface B {} } @Shared interface A_B {}",
                        "the name of its generated class, A_B_Shared, is taken"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("declarations")
    void shouldRefuseAllButPlainInterfaces(String declaration, String[] messages) {
        Compilation compilation = compile(source("Document", declaration));
        assertThat(compilation).failed();
        for (String message : messages) {
            assertThat(compilation).hadErrorContaining(message);
        }
    }

    @Test
    void shouldReportAMistakeAtItsLine() {
        JavaFileObject file = source("Document", "@Shared public interface Document {\n    long id();\n}");
        Compilation compilation = compile(file);
        assertThat(compilation).hadErrorContaining("no setter").inFile(file).onLine(8);
        assertThat(compilation).hadErrorCount(1);
    }

    @Test
    void shouldAcceptNamesThatTheGeneratedClassUsesItself() {
        assertThat(compile(source("Type", """
                        @Shared public interface Type {
                            int type(); void type(int value);
                            int Type(); void Type(int value);
                            int TYPE(); void TYPE(int value);
                            int fooBar(); void fooBar(int value);
                            int foo_bar(); void foo_bar(int value);
                            int value(); void value(int value);
                            String memory(); void memory(String value);
                            int space(); void space(int value);
                            int ref(); void ref(int value);
                            int refOf(); void refOf(int value);
                            long placed(); void placed(long value);
                            Fields fields(); void fields(Fields value);
                            SharedList<Type> types(); void types(SharedList<Type> value);
                            SharedList<Fields> others(); void others(SharedList<Fields> value);
                            Color color(); void color(Color value);
                            String toString();
                            int hashCode();
                            boolean equals(Object other);

                            @Shared interface Fields { Color color(); void color(Color value); }
                            enum Color { RED { @Override int shade() { return 1; } }; abstract int shade(); }
                        }
                        """))).succeededWithoutWarnings();
    }

    @Test
    void shouldAcceptEmptyNestedAndInheritingInterfaces() {
        assertThat(compile(source("Outer", """
                        interface Outer {
                            @Shared interface Empty {}
                            @Shared interface Inner extends Base, Empty {
                                @Inline Empty empty();
                                Optional<SharedLongMap<SharedList<SharedString>>> deep();
                                void deep(Optional<SharedLongMap<SharedList<SharedString>>> value);
                            }
                            interface Base { int x(); Base x(int value); private void hidden() {} }
                        }
                        """))).succeededWithoutWarnings();
    }

    @Test
    void shouldNotTakeTypeAnnotationsForAnotherType() {
        assertThat(compile(source("Document", """
                        @Shared public interface Document {
                            @Note String name(); void name(String value);
                            Ref<Document> next(); @Note Document next(Ref<@Note Document> value); boolean next(@Note Document into);
                        }
                        @java.lang.annotation.Target(java.lang.annotation.ElementType.TYPE_USE) @interface Note {}
                        """))).succeededWithoutWarnings();
    }

    @Test
    void shouldWarnOfNothingWhenAFieldIsDeprecated() {
        assertThat(compile(source(
                        "Document",
                        "@Shared public interface Document { @Deprecated int x(); @Deprecated void x(int value); }")))
                .succeededWithoutWarnings();
    }

    @Test
    void shouldAcceptADescriptionLongerThanAStringLiteral() {
        String fields = IntStream.range(0, 1_000)
                .mapToObj(i -> "String aFieldWithARatherLongNameThatMakesTheDescriptionLong%d(); ".formatted(i)
                        + "void aFieldWithARatherLongNameThatMakesTheDescriptionLong%d(String value);\n".formatted(i))
                .collect(Collectors.joining());
        assertThat(compile(source("Document", "@Shared public interface Document { " + fields + "}")))
                .succeededWithoutWarnings();
    }

    @Test
    void shouldNotDependOnTheOrderOfMethods() throws IOException {
        String one = "int b(); void b(int v); long a(); void a(long v); byte c(); void c(byte v);";
        String other = "void c(byte v); long a(); int b(); byte c(); void b(int v); void a(long v);";
        assertThat(generated(one)).isEqualTo(generated(other));
        assertThat(generated(one)).isNotEqualTo(generated(one.replace("byte", "short")));
    }

    @Test
    void shouldReserveEveryAccessorThatAFieldCouldOverride() {
        for (Method method : SharedRecord.class.getDeclaredMethods()) {
            boolean couldClash = method.getParameterCount() == 1
                    && !Modifier.isPrivate(method.getModifiers())
                    && !method.isSynthetic();
            if (couldClash) {
                String name = method.getName();
                String type = method.getParameterTypes()[0].getSimpleName();
                Compilation compilation = compile(source(
                        "Document",
                        "@Shared public interface Document { %1$s %2$s(); void %2$s(%1$s value); }"
                                .formatted(type, name)));
                assertThat(compilation).hadErrorContaining("rename it");
            }
        }
        assertThat(Arrays.stream(SharedObject.class.getDeclaredMethods())
                        .filter(method -> Modifier.isPublic(method.getModifiers()))
                        .filter(method -> !Modifier.isStatic(method.getModifiers()))
                        .map(Method::getName))
                .containsExactlyInAnyOrder("equals", "hashCode", "toString");
    }

    private static String generated(String body) throws IOException {
        Compilation compilation = compile(source("Document", "@Shared public interface Document { " + body + " }"));
        assertThat(compilation).succeededWithoutWarnings();
        return compilation
                .generatedSourceFile("sample.Document_Shared")
                .orElseThrow()
                .getCharContent(false)
                .toString();
    }

    private static Arguments mistake(String source, String... messages) {
        return Arguments.of(source, messages);
    }

    private static JavaFileObject source(String name, String declarations) {
        return JavaFileObjects.forSourceString("sample." + name, IMPORTS + declarations);
    }

    private static Compilation compile(JavaFileObject source) {
        return Compiler.javac()
                .withProcessors(new RackcallProcessor())
                .withOptions("-Xlint:all,-processing", "-Werror")
                .compile(source);
    }
}
