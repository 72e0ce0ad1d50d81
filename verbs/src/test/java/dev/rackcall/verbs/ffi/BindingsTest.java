package dev.rackcall.verbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Asks the C compiler for every size, offset, enumerator and macro that the generated bindings contain, and for every function, and links those. */
class BindingsTest {
    private static final List<String> HEADERS =
            List.of("stddef.h", "stdio.h", "poll.h", "infiniband/verbs.h", "rdma/rdma_cma.h");

    private static final Map<Class<?>, NativeLibrary> LIBRARIES = Map.of(
            Libibverbs.class,
            NativeLibrary.IBVERBS,
            Librdmacm.class,
            NativeLibrary.RDMACM,
            Libc.class,
            NativeLibrary.C);

    @TempDir
    private Path folder;

    @Test
    void shouldAgreeWithTheCompiler() throws Exception {
        requireHeaders();
        Map<String, Long> expected = Expectations.all();
        assertThat(expected).hasSizeGreaterThan(500);

        assertThat(compiles(probe(expected))).isTrue();
        assertThat(run(expected)).isEqualTo(expected);
    }

    /** Of each function the length of what it returns; with another number of arguments than it takes the probe does not compile. */
    @Test
    void shouldAgreeWithTheCompilerOnFunctions() throws Exception {
        requireHeaders();
        Map<String, Long> expected = new LinkedHashMap<>();
        for (Class<?> library : LIBRARIES.keySet()) {
            for (Method function : library.getDeclaredMethods()) {
                if (Modifier.isPublic(function.getModifiers())) {
                    expected.put("sizeof(" + call(function) + ")", bytes(function.getReturnType()));
                }
            }
        }
        assertThat(expected).hasSizeGreaterThan(40);

        assertThat(compiles(probe(expected))).isTrue();
        assertThat(run(expected)).isEqualTo(expected);
    }

    /** In parentheses, since some are macros, too, that call something else. */
    private static String call(Method function) {
        String name = function.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
        // The first is where errno goes.
        return "(" + name + ")(" + String.join(", ", Collections.nCopies(function.getParameterCount() - 1, "0")) + ")";
    }

    /** As the C compiler of the probe has it. */
    private static long bytes(Class<?> type) {
        return type == void.class ? 1 : type == int.class ? Integer.BYTES : Long.BYTES;
    }

    /** Functions are linked when they are first called: many of them by no test, on a machine without RDMA device. */
    @Test
    void shouldLinkEveryFunction() throws Exception {
        for (Map.Entry<Class<?>, NativeLibrary> library : LIBRARIES.entrySet()) {
            Assumptions.assumeTrue(
                    library.getValue().isPresent(),
                    "NOT TESTED: " + library.getValue().name() + " is not installed");
            Class<?>[] functions = library.getKey().getDeclaredClasses();
            assertThat(functions).isNotEmpty();
            for (Class<?> function : functions) {
                Field handle = function.getDeclaredField("HANDLE");
                handle.setAccessible(true);
                assertThat(handle.get(null)).as(function.getSimpleName()).isNotNull();
            }
        }
    }

    private void requireHeaders() throws Exception {
        for (String header : HEADERS) {
            if (!compiles("#include <" + header + ">\nint main(void) { return 0; }\n")) {
                String why = "BINDINGS NOT CHECKED: cc cannot compile <" + header
                        + ">; install gcc, libibverbs-dev and librdmacm-dev";
                System.out.println(why);
                Assumptions.abort(why);
            }
        }
    }

    private static String probe(Map<String, Long> expected) {
        StringBuilder source = new StringBuilder();
        HEADERS.forEach(header -> source.append("#include <").append(header).append(">\n"));
        source.append("#define SHOW(what) printf(\"%lld\\n\", (long long) (what))\nint main(void) {\n");
        expected.keySet().forEach(c -> source.append("    SHOW(").append(c).append(");\n"));
        return source.append("    return 0;\n}\n").toString();
    }

    private boolean compiles(String source) throws Exception {
        Path file = Files.writeString(folder.resolve("probe.c"), source);
        try {
            Process cc = new ProcessBuilder("cc", "-o", program().toString(), file.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve("cc.log").toFile())
                    .start();
            return cc.waitFor(60, TimeUnit.SECONDS) && cc.exitValue() == 0;
        } catch (IOException noCompiler) {
            return false;
        }
    }

    private Path program() {
        return folder.resolve("probe");
    }

    private Map<String, Long> run(Map<String, Long> expected) throws Exception {
        Path output = folder.resolve("probe.out");
        Process probe = new ProcessBuilder(program().toString())
                .redirectOutput(output.toFile())
                .start();
        assertThat(probe.waitFor(30, TimeUnit.SECONDS)).isTrue();
        List<String> lines = Files.readAllLines(output);
        Map<String, Long> values = new LinkedHashMap<>();
        int line = 0;
        for (String c : expected.keySet()) {
            // Enumerators are ints in Java; C shows those with the highest bit as positive.
            long value = Long.parseLong(lines.get(line++));
            values.put(c, c.contains("(") ? value : (int) value);
        }
        return values;
    }
}
