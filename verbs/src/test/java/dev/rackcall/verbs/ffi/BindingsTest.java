package dev.rackcall.verbs.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AsyncEvent;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Mtu;
import dev.rackcall.verbs.Opcode;
import dev.rackcall.verbs.PortState;
import dev.rackcall.verbs.QueuePairState;
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
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares every size, offset, enumerator, macro and function of the generated bindings with the C compiler, and links
 * every function.
 */
class BindingsTest {
    private static final List<String> HEADERS = List.of("stddef.h", "stdio.h", "poll.h", "infiniband/verbs.h");

    private static final Map<Class<?>, NativeLibrary> LIBRARIES =
            Map.of(Libibverbs.class, NativeLibrary.IBVERBS, Libc.class, NativeLibrary.C);

    @TempDir
    private Path folder;

    @Test
    void shouldAgreeWithTheCompiler() throws Exception {
        requireHeaders();
        Map<String, Long> expected = Expectations.all();
        assertThat(expected).hasSizeGreaterThan(100);

        assertThat(compiles(probe(expected))).isTrue();
        assertThat(run(expected)).isEqualTo(expected);
    }

    /** The enums of {@code dev.rackcall.verbs} carry C's numbers, mostly as their ordinals. */
    @Test
    void shouldNumberEnumsAsTheCompilerDoes() throws Exception {
        requireHeaders();
        Map<String, Long> expected = new LinkedHashMap<>();
        number(expected, "IBV_WC_", CompletionStatus.values(), CompletionStatus::code, """
                SUCCESS LOC_LEN_ERR LOC_QP_OP_ERR LOC_EEC_OP_ERR LOC_PROT_ERR WR_FLUSH_ERR MW_BIND_ERR BAD_RESP_ERR \
                LOC_ACCESS_ERR REM_INV_REQ_ERR REM_ACCESS_ERR REM_OP_ERR RETRY_EXC_ERR RNR_RETRY_EXC_ERR LOC_RDD_VIOL_ERR \
                REM_INV_RD_REQ_ERR REM_ABORT_ERR INV_EECN_ERR INV_EEC_STATE_ERR FATAL_ERR RESP_TIMEOUT_ERR GENERAL_ERR TM_ERR TM_RNDV_INCOMPLETE""");
        number(expected, "IBV_WC_", CompletionOpcode.values(), CompletionOpcode::code, """
                SEND RDMA_WRITE RDMA_READ COMP_SWAP FETCH_ADD RECV RECV_RDMA_WITH_IMM""");
        number(expected, "IBV_WR_", Opcode.values(), Opcode::code, """
                RDMA_WRITE RDMA_WRITE_WITH_IMM SEND SEND_WITH_IMM RDMA_READ ATOMIC_CMP_AND_SWP ATOMIC_FETCH_AND_ADD""");
        number(expected, "IBV_QPS_", QueuePairState.values(), QueuePairState::code, "RESET INIT RTR RTS SQE ERR");
        number(expected, "IBV_ACCESS_", Access.values(), Access::bit, """
                LOCAL_WRITE REMOTE_WRITE REMOTE_READ REMOTE_ATOMIC""");
        number(expected, "IBV_MTU_", Mtu.values(), Mtu::code, "256 512 1024 2048 4096");
        number(
                expected,
                "IBV_PORT_",
                PortState.values(),
                PortState::ordinal,
                "NOP DOWN INIT ARMED ACTIVE ACTIVE_DEFER");
        number(expected, "IBV_EVENT_", AsyncEvent.Type.values(), AsyncEvent.Type::ordinal, """
                CQ_ERR QP_FATAL QP_REQ_ERR QP_ACCESS_ERR COMM_EST SQ_DRAINED PATH_MIG PATH_MIG_ERR DEVICE_FATAL \
                PORT_ACTIVE PORT_ERR LID_CHANGE PKEY_CHANGE SM_CHANGE SRQ_ERR SRQ_LIMIT_REACHED QP_LAST_WQE_REACHED CLIENT_REREGISTER GID_CHANGE WQ_FATAL""");

        assertThat(compiles(probe(expected))).isTrue();
        assertThat(run(expected)).isEqualTo(expected);
    }

    private static <E> void number(
            Map<String, Long> all, String prefix, E[] values, ToIntFunction<E> code, String names) {
        String[] each = names.split(" ");
        for (int i = 0; i < each.length; i++) {
            all.put(prefix + each[i], (long) code.applyAsInt(values[i]));
        }
    }

    /**
     * Compares the size of each function's result. With a wrong number of arguments, the probe does not compile.
     */
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
        assertThat(expected).hasSizeGreaterThan(25);

        assertThat(compiles(probe(expected))).isTrue();
        assertThat(run(expected)).isEqualTo(expected);
    }

    /** The name is in parentheses because some functions are also macros. */
    private static String call(Method function) {
        String name = function.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
        return "(" + name + ")(" + String.join(", ", Collections.nCopies(function.getParameterCount(), "0")) + ")";
    }

    /** The size of a type in the probe; GCC's sizeof(void) is 1. */
    private static long bytes(Class<?> type) {
        return type == void.class ? 1 : type == int.class ? Integer.BYTES : Long.BYTES;
    }

    /** Without an RDMA device, no other test calls most functions. */
    @Test
    void shouldLinkEveryFunction() throws Exception {
        for (Map.Entry<Class<?>, NativeLibrary> library : LIBRARIES.entrySet()) {
            Assumptions.assumeTrue(
                    library.getValue().isPresent(),
                    "NOT TESTED: " + library.getValue().name() + " is not installed");
            Field[] functions = library.getKey().getDeclaredFields();
            assertThat(functions).isNotEmpty();
            for (Field handle : functions) {
                handle.setAccessible(true);
                assertThat(handle.get(null)).as(handle.getName()).isNotNull();
            }
        }
    }

    private void requireHeaders() throws Exception {
        for (String header : HEADERS) {
            if (!compiles("#include <" + header + ">\nint main(void) { return 0; }\n")) {
                String why = "BINDINGS NOT CHECKED: cc cannot compile <" + header + ">; install gcc and libibverbs-dev";
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
            // Enumerators are ints in Java; the probe prints those with the highest bit set as positive numbers.
            long value = Long.parseLong(lines.get(line++));
            values.put(c, c.contains("(") ? value : (int) value);
        }
        return values;
    }
}
