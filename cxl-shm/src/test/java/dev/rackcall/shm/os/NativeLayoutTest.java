package dev.rackcall.shm.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares every C number that these packages use (constants, sizes, offsets) with this machine's C compiler. Each
 * constant of a {@code Libc} class is compared with the C constant of its name, so that new ones are covered at once.
 */
class NativeLayoutTest {
    private static final List<Class<?>> MIRRORS = Stream.of(
                    "file.LibcFiles", "socket.LibcSockets", "LibcProcess", "file.LibNuma", "Errno")
            .<Class<?>>map(NativeLayoutTest::inThisPackage)
            .toList();

    private static final List<String> HEADERS = List.of(
            ("errno.h fcntl.h linux/futex.h linux/mempolicy.h poll.h sched.h stddef.h stdio.h sys/epoll.h sys/eventfd.h "
                            + "sys/mman.h sys/resource.h sys/socket.h sys/stat.h sys/syscall.h sys/uio.h sys/un.h time.h unistd.h")
                    .split(" "));

    @TempDir
    private Path directory;

    /** C expressions and their values in Java. */
    private final Map<String, Long> expected = new LinkedHashMap<>();

    @Test
    void shouldLinkEveryFunctionInOneShape() throws Exception {
        Set<MethodType> shapes = new HashSet<>();
        for (Class<?> mirror : MIRRORS) {
            for (Field field : mirror.getDeclaredFields()) {
                if (field.getType() == MethodHandle.class) {
                    field.setAccessible(true);
                    shapes.add(((MethodHandle) field.get(null)).type());
                }
            }
        }
        // Each further signature costs every start of a JVM 10 ms to 20 ms.
        assertThat(shapes).hasSize(1);
    }

    @Test
    void shouldAgreeWithTheCompiler() throws Exception {
        constants();
        structures();
        architecture();
        Map<String, Long> found = compileAndRun(program());
        Map<String, String> unknown = new TreeMap<>();
        expected.keySet().stream()
                .filter(name -> !found.containsKey(name))
                .forEach(name -> unknown.put(name, "unknown"));
        if (!unknown.isEmpty()) {
            System.err.println("NativeLayoutTest: this machine's C headers are too old to know " + unknown.keySet());
        }
        // The headers of some supported distributions are older than mseal(2).
        assertThat(unknown.keySet()).isSubsetOf("SYS_mseal");
        assertThat(found).hasSizeGreaterThan(120);
        expected.keySet().removeAll(unknown.keySet());
        assertThat(expected).containsExactlyInAnyOrderEntriesOf(found);
    }

    private void constants() throws IllegalAccessException {
        for (Class<?> mirror : MIRRORS) {
            for (Field field : mirror.getDeclaredFields()) {
                boolean isNumber =
                        field.getType() == int.class || field.getType() == long.class || field.getType() == short.class;
                if (Modifier.isStatic(field.getModifiers()) && isNumber) {
                    field.setAccessible(true);
                    expected.put(field.getName(), ((Number) field.get(null)).longValue());
                }
            }
        }
    }

    private void structures() throws ReflectiveOperationException {
        structure("epoll_event", "socket.EventPoll", "EVENT_BYTES", "EVENTS events, DATA data");
        structure("sockaddr_un", "socket.SocketAddress", "SOCKADDR_BYTES", "FAMILY sun_family, PATH sun_path");
        expect("sizeof(((struct sockaddr_un *) 0)->sun_path) - 1", constant("socket.SocketAddress", "MAX_PATH_BYTES"));
        structure(
                "msghdr",
                "socket.MessageHeader",
                "MSGHDR_BYTES",
                "IOV msg_iov, IOV_COUNT msg_iovlen, CONTROL msg_control, CONTROL_LENGTH msg_controllen, "
                        + "FLAGS msg_flags");
        structure("iovec", "socket.MessageHeader", "IOVEC_BYTES", "");
        expect("offsetof(struct iovec, iov_base)", 0);
        expect("offsetof(struct iovec, iov_len)", 8);
        expect("offsetof(struct cmsghdr, cmsg_len)", 0);
        expect("offsetof(struct cmsghdr, cmsg_level)", constant("socket.MessageHeader", "CMSG_LEVEL"));
        expect("offsetof(struct cmsghdr, cmsg_type)", constant("socket.MessageHeader", "CMSG_TYPE"));
        expect("CMSG_LEN(0)", constant("socket.MessageHeader", "CMSG_DATA"));
        expect("CMSG_SPACE(4)", constant("socket.MessageHeader", "CMSG_DATA") + 8);
        structure(
                "statx",
                "file.FileStatus",
                "STATX_BYTES",
                "BLKSIZE stx_blksize, NLINK stx_nlink, UID stx_uid, MODE stx_mode, INO stx_ino, "
                        + "SIZE stx_size, BLOCKS stx_blocks, RDEV_MAJOR stx_rdev_major, RDEV_MINOR stx_rdev_minor, "
                        + "DEV_MAJOR stx_dev_major, DEV_MINOR stx_dev_minor");
        expect("S_IFMT", constant("file.FileStatus", "TYPE_MASK"));
        expect("S_IFREG", constant("file.FileStatus", "REGULAR"));
        expect("S_IFCHR", constant("file.FileStatus", "CHARACTER_DEVICE"));
        structure(
                "flock",
                "file.RecordLock",
                "FLOCK_BYTES",
                "TYPE l_type, WHENCE l_whence, START l_start, LENGTH l_len, PID l_pid");
        structure("rusage", "PageFaults", "RUSAGE_BYTES", "MINFLT ru_minflt");
        expect("F_WRLCK", constant("file.RecordLock", "F_WRLCK"));
        expect("F_UNLCK", constant("file.RecordLock", "F_UNLCK"));
        expect("offsetof(struct pollfd, events)", constant("socket.SocketMessages", "POLLFD_EVENTS"));
        // Literals in the code.
        expect("SEEK_SET", 0);
        expect("offsetof(struct pollfd, fd)", 0);
        expect("sizeof(struct timespec)", 16);
        expect("offsetof(struct timespec, tv_sec)", 0);
        expect("offsetof(struct timespec, tv_nsec)", 8);
        expect("sizeof(struct ucred)", 12);
        expect("offsetof(struct ucred, pid)", 0);
        expect("offsetof(struct ucred, uid)", 4);
        expect("offsetof(struct ucred, gid)", 8);
        expect("sizeof(size_t)", 8);
        expect("sizeof(off_t)", 8);
        expect("sizeof(mode_t)", 4);
        expect("sizeof(socklen_t)", 4);
        assertThat((long) CallState.SCRATCH_BYTES)
                .isGreaterThanOrEqualTo(constant("file.RecordLock", "FLOCK_BYTES"))
                .isGreaterThanOrEqualTo(constant("PageFaults", "RUSAGE_BYTES"));
    }

    private void architecture() {
        Abi abi = Abi.current();
        expect("O_DIRECTORY", abi.directoryFlag());
        expect("SYS_futex", abi.futex());
        expect("SYS_userfaultfd", abi.userfaultfd());
        expect("SYS_pkey_alloc", abi.pkeyAlloc());
        expect("SYS_pkey_free", abi.pkeyFree());
        expect("SYS_epoll_pwait2", Abi.SYS_EPOLL_PWAIT2);
        expect("SYS_mseal", Abi.SYS_MSEAL);
    }

    /** @param fields pairs of a Java constant and the C field with that offset: all offsets of the class */
    private void structure(String name, String layout, String size, String fields) throws ReflectiveOperationException {
        expect("sizeof(struct " + name + ")", constant(layout, size));
        for (String pair : fields.isEmpty() ? new String[0] : fields.split(", ")) {
            String[] names = pair.split(" ");
            expect("offsetof(struct " + name + ", " + names[1] + ")", constant(layout, names[0]));
        }
    }

    private static long constant(String type, String name) throws ReflectiveOperationException {
        Field field = inThisPackage(type).getDeclaredField(name);
        field.setAccessible(true);
        return ((Number) field.get(null)).longValue();
    }

    private static Class<?> inThisPackage(String name) {
        try {
            return Class.forName(NativeLayoutTest.class.getPackageName() + "." + name);
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    private void expect(String expression, long value) {
        expected.put(expression, value);
    }

    // ---- the compiler's answers

    /** Leaves out macros that the headers do not define. */
    private String program() {
        String lines = expected.keySet().stream().map(NativeLayoutTest::line).collect(Collectors.joining());
        return "#define _GNU_SOURCE\n"
                + HEADERS.stream().map(header -> "#include <" + header + ">\n").collect(Collectors.joining())
                + "int main(void) {\n" + lines + "return 0;\n}\n";
    }

    private static String line(String expression) {
        boolean mayBeMissing = expression.startsWith("SYS_");
        String say = "printf(\"%s\\t%lld\\n\", \"" + expression + "\", (long long) (" + expression + "));\n";
        return mayBeMissing ? "#ifdef " + expression + "\n" + say + "#endif\n" : say;
    }

    private Map<String, Long> compileAndRun(String program) throws IOException, InterruptedException {
        Path source = Files.writeString(directory.resolve("probe.c"), program);
        Path binary = directory.resolve("probe");
        String compiled;
        try {
            compiled = output("cc", "-o", binary.toString(), source.toString());
        } catch (IOException e) {
            System.err.println(
                    "NativeLayoutTest SKIPPED: there is no C compiler `cc` here, so the layouts of structures are"
                            + " NOT compared with C; install gcc (" + e.getMessage() + ")");
            return abort("no C compiler");
        }
        assertThat(binary).as(compiled).exists();
        return output(binary.toString())
                .lines()
                .map(line -> line.split("\t"))
                .collect(Collectors.toMap(parts -> parts[0], parts -> Long.valueOf(parts[1])));
    }

    private static String output(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return output;
    }
}
