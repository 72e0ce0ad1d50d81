package dev.rackcall.verbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Asks the C compiler for every size, offset, enumerator and macro that the generated bindings contain. */
class BindingsTest {
    private static final List<String> HEADERS =
            List.of("stddef.h", "stdio.h", "poll.h", "infiniband/verbs.h", "rdma/rdma_cma.h");

    @TempDir
    private Path folder;

    @Test
    void shouldAgreeWithTheCompiler() throws Exception {
        for (String header : HEADERS) {
            if (!compiles("#include <" + header + ">\nint main(void) { return 0; }\n")) {
                String why = "BINDINGS NOT CHECKED: cc cannot compile <" + header
                        + ">; install gcc, libibverbs-dev and librdmacm-dev";
                System.out.println(why);
                Assumptions.abort(why);
            }
        }
        Map<String, Long> expected = Expectations.all();
        assertThat(expected).hasSizeGreaterThan(500);

        assertThat(compiles(probe(expected))).isTrue();
        assertThat(run()).isEqualTo(expected);
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

    private Map<String, Long> run() throws Exception {
        Path output = folder.resolve("probe.out");
        Process probe = new ProcessBuilder(program().toString())
                .redirectOutput(output.toFile())
                .start();
        assertThat(probe.waitFor(30, TimeUnit.SECONDS)).isTrue();
        List<String> lines = Files.readAllLines(output);
        Map<String, Long> values = new LinkedHashMap<>();
        int line = 0;
        for (String c : Expectations.all().keySet()) {
            // Enumerators are ints in Java; C shows those with the highest bit as positive.
            long value = Long.parseLong(lines.get(line++));
            values.put(c, c.contains("(") ? value : (int) value);
        }
        return values;
    }
}
