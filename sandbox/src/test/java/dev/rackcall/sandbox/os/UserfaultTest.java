package dev.rackcall.sandbox.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.sandbox.Allocation;
import dev.rackcall.sandbox.Probe;
import dev.rackcall.sandbox.Skip;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the kernel and the JVM do with a store to a page that is closed. */
class UserfaultTest {
    private static final long PAGE = 4096;
    private static final long HUGE_PAGE = 2L << 20;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"-Xint", "-XX:TieredStopAtLevel=1 -Xcomp", "-XX:-TieredCompilation -Xbatch"})
    void shouldRefuseEveryStoreAndGoOn(String flags) {
        Skip.unless(Userfault::open).close();
        // Enough for the hot loops to be compiled where the JVM interprets first.
        String rounds = flags.contains("Xbatch") ? "30000" : "3";

        List<String> arguments = new ArrayList<>(List.of("userfaultfd", rounds));
        if (!flags.equals("-Xint")) {
            arguments.add("atomics too");
        }

        ChildJvm.Result result = Probe.of(folder, StoreProbe.class, arguments.toArray())
                .flags(flags.split(" "))
                .run();

        assertThat(result.output()).contains("all refused");
        assertThat(result.exitCode()).isZero();
    }

    /** A limit of the JVM: only compiled code can go on after an atomic operation that was refused. SECURITY.md says so. */
    @Test
    void shouldLoseTheJvmWithAnInterpretedAtomicOperation() {
        Skip.unless(Userfault::open).close();
        ChildJvm.Result result = Probe.of(folder, StoreProbe.class, "userfaultfd", "1", "atomics too")
                .flags("-Xint")
                .run();

        assertThat(result.output()).contains("refused: text", "SIGBUS", "Unsafe_CompareAndSet");
    }

    @Test
    void shouldLoseTheJvmWithMprotectAndNoGuard() {
        ChildJvm.Result result =
                Probe.of(folder, StoreProbe.class, "mprotect", "1").run();

        assertThat(result.output()).contains("SIGSEGV").doesNotContain("refused");
        assertThat(result.exitCode()).isNotZero();
    }

    @Test
    void shouldProtectTmpfs() {
        Path shm = Path.of("/dev/shm");
        if (!Files.isWritable(shm)) {
            throw Skip.because("there is no writable /dev/shm");
        }
        Path name =
                shm.resolve("rackcall-userfault-test-" + ProcessHandle.current().pid());
        try {
            refusesAndAllows(() -> SharedFile.createFile(name, 8 * PAGE), PAGE);
        } finally {
            assertThat(name.toFile().delete()).isTrue();
        }
    }

    @Test
    void shouldProtectHugePages() {
        refusesAndAllows(
                () -> {
                    try {
                        return SharedFile.hugeMemfd("userfault-test", 2 * HUGE_PAGE);
                    } catch (OsException e) {
                        throw Skip.because("this host has no free huge pages: " + e.getMessage());
                    }
                },
                HUGE_PAGE);
    }

    /** Why device-dax memory is sealed by mprotect. */
    @Test
    void shouldSayThatDeviceDaxCannotBeProtected() throws IOException {
        Path device;
        try (Stream<Path> devices = Files.find(
                Path.of("/dev"), 1, (path, attributes) -> path.toString().matches("/dev/dax\\d+\\.\\d+"))) {
            device = devices.findFirst().orElse(null);
        }
        if (device == null) {
            throw Skip.because("there is no /dev/daxX.Y");
        }
        try (Userfault userfault = Skip.unless(Userfault::open);
                SharedFile file = SharedFile.openDax(device);
                Mapping mapping = file.map()) {
            assertThatThrownBy(() -> userfault.register(mapping.memory().address(), file.bytes()))
                    .isInstanceOf(OsException.class)
                    .hasMessageContaining("EINVAL")
                    .hasMessageContaining("device-dax needs mprotect");
        }
    }

    @Test
    void shouldProtectPagesThatWereNeverTouched() {
        refusesAndAllows(() -> SharedFile.memfd("userfault-test", 8 * PAGE), PAGE);
    }

    private static void refusesAndAllows(Supplier<SharedFile> memory, long unit) {
        try (Userfault userfault = Skip.unless(Userfault::open);
                SharedFile file = memory.get();
                Mapping mapping = file.map()) {
            file.reserve(0, file.bytes());
            MemorySegment bytes = mapping.memory();
            userfault.register(bytes.address(), bytes.byteSize());

            userfault.protect(bytes.address(), unit);
            assertThat(isRefused(bytes, unit - 8)).isTrue();
            assertThat(isRefused(bytes, unit)).isFalse();

            userfault.unprotect(bytes.address(), unit);
            assertThat(isRefused(bytes, unit - 8)).isFalse();

            userfault.protect(bytes.address(), unit);
            userfault.close();
            assertThat(isRefused(bytes, 0))
                    .as("the last holder is gone, so everything is open")
                    .isFalse();
        }
    }

    @Test
    void shouldRefuseSystemCallsThatStore() {
        try (Userfault userfault = Skip.unless(Userfault::open);
                SharedFile file = SharedFile.memfd("userfault-test", 2 * PAGE);
                Mapping mapping = file.map()) {
            file.reserve(0, 2 * PAGE);
            MemorySegment memory = mapping.memory();
            userfault.register(memory.address(), memory.byteSize());
            userfault.protect(memory.address(), PAGE);

            int readOnly = 0;
            long fd = Raw.call("open", Raw.string("/proc/self/maps"), readOnly);
            assertThat(Raw.call("read", fd, memory.address(), 64)).isEqualTo(-Errno.EFAULT);
            assertThat(memory.get(JAVA_LONG, 0)).isZero();

            userfault.unprotect(memory.address(), PAGE);
            assertThat(Raw.call("read", fd, memory.address(), 64)).isEqualTo(64);
            Raw.call("close", fd);
        }
    }

    @Test
    void shouldSayThatAMappingHasAnotherUserfaultfd() {
        try (Userfault first = Skip.unless(Userfault::open);
                Userfault second = Userfault.open();
                SharedFile file = SharedFile.memfd("userfault-test", 2 * PAGE);
                Mapping mapping = file.map()) {
            MemorySegment memory = mapping.memory();
            first.register(memory.address(), memory.byteSize());

            assertThatThrownBy(() -> second.register(memory.address(), memory.byteSize()))
                    .isInstanceOf(OsException.class)
                    .hasMessageContaining("EBUSY");
        }
    }

    /** A hole of the kernel, and why enforced seals forbid the sealed process these calls. If this fails, the kernel has closed it. */
    @Test
    void shouldLetEveryUserfaultfdOfAProcessOpenItsPages() {
        try (Userfault first = Skip.unless(Userfault::open);
                Userfault second = Userfault.open();
                SharedFile file = SharedFile.memfd("userfault-test", 2 * PAGE);
                Mapping mapping = file.map()) {
            MemorySegment memory = mapping.memory();
            first.register(memory.address(), memory.byteSize());
            first.protect(memory.address(), PAGE);

            second.unprotect(memory.address(), PAGE);

            assertThat(isRefused(memory, 0)).isFalse();
            assertThatThrownBy(() -> second.unregister(memory.address(), PAGE)).isInstanceOf(OsException.class);
        }
    }

    @Test
    void shouldSayWhatAnOldKernelLacks() {
        Skip.unless(Userfault::open).close();
        assertThatThrownBy(() -> Userfault.open(LibcPages.UFFD_API, 1L << 62))
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessage("This kernel's userfaultfd cannot write-protect shared memory; Linux 5.19 or newer can.");
    }

    @Test
    void shouldSayThatUserfaultfdIsForbidden() {
        Skip.unless(Userfault::open).close();
        ChildJvm.Result result = Probe.of(folder, ForbiddenUserfault.class).run();

        assertThat(result.output()).contains("This process may not use userfaultfd");
    }

    @Test
    void shouldAllocateNothing() {
        try (Userfault userfault = Skip.unless(Userfault::open);
                SharedFile file = SharedFile.memfd("userfault-test", 2 * PAGE);
                Mapping mapping = file.map()) {
            long address = mapping.memory().address();
            userfault.register(address, 2 * PAGE);
            Allocation.settlesAtNothing(() -> {
                userfault.protect(address, PAGE);
                userfault.unprotect(address, PAGE);
            });
        }
    }

    private static boolean isRefused(MemorySegment memory, long offset) {
        try {
            memory.set(JAVA_LONG, offset, 1);
            StoreBarrier.now();
            return false;
        } catch (InternalError e) {
            return true;
        }
    }
}
