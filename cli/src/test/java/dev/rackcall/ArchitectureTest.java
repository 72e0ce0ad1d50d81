package dev.rackcall;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.GeneralCodingRules;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.io.IOException;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Holds the borders that docs/architecture.md draws, over the classes of all modules. */
class ArchitectureTest {
    private static final String PROCESSOR = "dev.rackcall.processor..";
    private static final String MEMORY = "dev.rackcall.shm..";
    private static final String NATIVE = "dev.rackcall.shm.os..";
    private static final String SANDBOX = "dev.rackcall.sandbox..";
    private static final String SANDBOX_NATIVE = "dev.rackcall.sandbox.os..";
    private static final String VERBS = "dev.rackcall.verbs..";
    private static final String VERBS_NATIVE = "dev.rackcall.verbs.ffi..";
    private static final String RPC = "dev.rackcall.rpc..";
    private static final String SPI = "dev.rackcall.rpc.spi..";
    private static final String TRANSPORT = "dev.rackcall.rpc.shm..";
    private static final String DIRECTORY = "dev.rackcall.directory..";
    private static final String DIRECTORY_STORES = "dev.rackcall.directory.file..";
    private static final String ZOOKEEPER = "dev.rackcall.directory.zookeeper..";
    private static final String RDMA = "dev.rackcall.rdma..";
    private static final String LOCK = "dev.rackcall.lock..";
    private static final String CONTROL_PLANE = "dev.rackcall.cp..";
    private static final String ROUTE = "dev.rackcall.route..";
    private static final String SAMPLES = "dev.rackcall.samples..";
    private static final String PERF = "dev.rackcall.perf..";
    private static final String RACK = "dev.rackcall.rack..";
    private static final String RACK_GUEST = "dev.rackcall.rack.guest..";
    private static final String CLI = "dev.rackcall.cli..";

    private static final DescribedPredicate<JavaClass> OURS = resideInAPackage("dev.rackcall..");

    private static JavaClasses all;

    @BeforeAll
    static void readClasses() {
        all = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages("dev.rackcall");
    }

    /** A rule about a module that is not on the class path would hold for nothing. */
    @Test
    void shouldSeeEveryModule() {
        for (String module : Set.of(
                PROCESSOR,
                MEMORY,
                SANDBOX,
                VERBS,
                DIRECTORY,
                ZOOKEEPER,
                CONTROL_PLANE,
                RPC,
                RDMA,
                LOCK,
                ROUTE,
                RACK,
                CLI)) {
            assertThat(all.that(resideInAPackage(module))).as(module).isNotEmpty();
        }
    }

    @Test
    void shouldKeepTheProcessorFreeOfTheRuntime() {
        classes()
                .that()
                .resideInAPackage(PROCESSOR)
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(PROCESSOR, "java..", "javax..", "com.palantir.javapoet.."))
                .check(all);
    }

    @Test
    void shouldKeepMemoryFreeOfCalls() {
        mayUseOnly(MEMORY, MEMORY);
    }

    @Test
    void shouldKeepIsolationFreeOfCalls() {
        mayUseOnly(SANDBOX, SANDBOX, MEMORY);
    }

    @Test
    void shouldLetTheRuntimeUseMemoryAndIsolationOnly() {
        mayUseOnly(RPC, RPC, SANDBOX, MEMORY);
    }

    /** RDMA stands for itself; and what its provider for real devices needs to link lies in one package. */
    @Test
    void shouldKeepVerbsFreeOfEverythingElse() {
        mayUseOnly(VERBS, VERBS);
        mayUseOnly(VERBS_NATIVE, VERBS_NATIVE);
    }

    /** Names, leases and quotas are written over the SPI, so that they are the same whatever they are kept in; ZooKeeper stays where it is optional. */
    @Test
    void shouldKeepDirectoriesFreeOfCallsAndOfTheirStores() {
        mayUseOnly(DIRECTORY, DIRECTORY, MEMORY);
        noClasses()
                .that()
                .resideInAnyPackage("dev.rackcall.directory", "dev.rackcall.directory.spi")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(DIRECTORY_STORES, ZOOKEEPER)
                .check(all);
        noClasses()
                .that(OURS.and(not(resideInAPackage(ZOOKEEPER))))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.apache.zookeeper..", "org.apache.curator..")
                .check(all);
    }

    /** Nobody uses it: like any transport it is found. Of shared memory's transport it sees the SPI only, which another rule says. */
    @Test
    void shouldLetCallsOverRdmaUseVerbsTheControlPlaneAndTheRuntime() {
        mayUseOnly(RDMA, RDMA, CONTROL_PLANE, RPC, VERBS, SANDBOX, MEMORY);
    }

    /**
     * No module names routing: it is found like any router, because a channel opened by address needs no directory. It
     * chooses between transports and knows only the class that connects by them.
     */
    @Test
    void shouldLetRoutesUseDirectoriesAndTheRuntimesBorder() {
        mayUseOnly(
                ROUTE,
                ROUTE,
                "dev.rackcall.rpc",
                SPI,
                "dev.rackcall.rpc.runtime",
                "dev.rackcall.rpc.shm",
                DIRECTORY,
                MEMORY);
        noClasses()
                .that(OURS.and(not(resideInAPackage(ROUTE))))
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ROUTE)
                .check(all);
    }

    /** ALock needs devices and memory, and no calls. */
    @Test
    void shouldKeepTheLockFreeOfCalls() {
        mayUseOnly(LOCK, LOCK, VERBS, MEMORY);
    }

    /** Virtual queues carry bytes; what they mean is for those who use them. A directory says where the meta server is. */
    @Test
    void shouldKeepTheControlPlaneFreeOfCalls() {
        mayUseOnly(CONTROL_PLANE, CONTROL_PLANE, VERBS, DIRECTORY, MEMORY);
    }

    @Test
    void shouldKeepSamplesAndBenchmarksApart() {
        mayUseOnly(SAMPLES, SAMPLES, RDMA, RPC, CONTROL_PLANE, VERBS, DIRECTORY, MEMORY);
        mayUseOnly(PERF, PERF, LOCK, RDMA, RPC, CONTROL_PLANE, VERBS, SANDBOX, MEMORY);
    }

    /** The machine's side of a rack needs nothing of Rackcall, and what runs in guests nothing of the machine's side. */
    @Test
    void shouldKeepTheRacksTwoSidesApart() {
        mayUseOnly(RACK, RACK, LOCK, RDMA, CONTROL_PLANE, RPC, VERBS, SANDBOX, MEMORY, SAMPLES);
        mayUseOnly("dev.rackcall.rack", "dev.rackcall.rack", RACK_GUEST);
        mayUseOnly(RACK_GUEST, RACK_GUEST, LOCK, RDMA, CONTROL_PLANE, RPC, VERBS, SANDBOX, MEMORY, SAMPLES);
    }

    @Test
    void shouldKeepGeneratedCodesBorderFreeOfTransportAndRuntime() {
        mayUseOnly(SPI, SPI, MEMORY, "dev.rackcall.rpc");
    }

    /** Clocks of hosts differ: leases and deadlines are ages by one process's monotonic clock, or are counted by the kernel or the ensemble. */
    @Test
    void shouldLetNoLibraryAskForTheTimeOfDay() {
        noClasses()
                .that(OURS)
                .and()
                .resideOutsideOfPackages(SAMPLES, PERF, CLI)
                .should()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(Instant.class, "now")
                .check(all);
    }

    /** Channels, servers and routes reach the transports by {@code rpc.shm.Transports}; all others by those. */
    @Test
    void shouldLetOnlyChannelsAndRoutesNameATransport() {
        noClasses()
                .that(OURS.and(not(resideInAnyPackage(TRANSPORT, "dev.rackcall.rpc.channel", ROUTE))))
                .should()
                .dependOnClassesThat()
                .resideInAPackage(TRANSPORT)
                .check(all);
    }

    @Test
    void shouldLinkNativeCodeInTheOsPackagesOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackages(NATIVE, SANDBOX_NATIVE, VERBS_NATIVE)
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(Linker.class, SymbolLookup.class)
                .orShould()
                .callMethod(System.class, "load", String.class)
                .orShould()
                .callMethod(System.class, "loadLibrary", String.class)
                .check(all);
    }

    @Test
    void shouldNotUseUnsafeOrInternalsOfTheJdk() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("sun.misc.Unsafe")
                .orShould()
                .dependOnClassesThat()
                .resideInAnyPackage("jdk.internal..", "sun.nio..")
                .check(all);
    }

    @Test
    void shouldNotUseReflectionOnTheCallPath() {
        noClasses()
                .that()
                .resideInAnyPackage(TRANSPORT, "dev.rackcall.shm.codec..", "dev.rackcall.shm.waiting..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("java.lang.reflect..")
                .check(all);
    }

    @Test
    void shouldEncodeWithChronicleInOnePackageOnly() {
        noClasses()
                .that(OURS.and(not(resideInAnyPackage("dev.rackcall.shm.codec..", PERF))))
                .should()
                .dependOnClassesThat()
                .resideInAPackage("net.openhft..")
                .check(all);
    }

    @Test
    void shouldNotPrintFromLibraries() {
        noClasses()
                .that()
                .resideInAnyPackage(MEMORY, SANDBOX, VERBS, CONTROL_PLANE, RPC, ROUTE, DIRECTORY, PROCESSOR)
                .should(GeneralCodingRules.ACCESS_STANDARD_STREAMS)
                .check(all);
    }

    @Test
    void shouldHaveNoCyclesBetweenPackages() {
        SlicesRuleDefinition.slices()
                .assignedFrom(new PackageSlices())
                .should()
                .beFreeOfCycles()
                .check(all);
    }

    @Test
    void shouldDescribeEveryPackage() throws IOException {
        Set<Path> undescribed;
        try (Stream<Path> sources = Files.find(
                Path.of("..").toRealPath(),
                20,
                (file, attributes) -> file.toString().endsWith(".java")
                        && file.toString().contains("/src/main/java/")
                        // The quick start's project, from the last run of tools/consumer.
                        && !file.toString().contains("/target/"))) {
            undescribed = sources.map(Path::getParent)
                    .filter(folder -> !isDescribed(folder.resolve("package-info.java")))
                    .collect(Collectors.toSet());
        }
        assertThat(undescribed)
                .as("folders without a package-info.java that says in a few sentences what lives there")
                .isEmpty();
    }

    private static boolean isDescribed(Path packageInfo) {
        try {
            String text = Files.readString(packageInfo);
            int start = text.indexOf("/**");
            int end = text.indexOf("*/");
            return start >= 0 && end - start > 80;
        } catch (IOException e) {
            return false;
        }
    }

    /** Says which of our packages a module's classes may use; foreign libraries are the pom's affair. */
    private static void mayUseOnly(String module, String... allowed) {
        noClasses()
                .that()
                .resideInAPackage(module)
                .should()
                .dependOnClassesThat(OURS.and(not(resideInAnyPackage(allowed))))
                .allowEmptyShould(true)
                .check(all);
    }

    /**
     * One slice a package, but for the API with its two borders: a channel opens a transport by way of {@code spi}, and {@code spi} speaks
     * in the API's words (status, metadata, deadline).
     */
    private static final class PackageSlices implements SliceAssignment {
        private static final Set<String> API =
                Set.of("dev.rackcall.rpc", "dev.rackcall.rpc.spi", "dev.rackcall.rpc.runtime");

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            String name = type.getPackageName();
            if (API.contains(name)) {
                return SliceIdentifier.of("dev.rackcall.rpc");
            }
            return SliceIdentifier.of(name.equals("dev.rackcall.directory.spi") ? "dev.rackcall.directory" : name);
        }

        @Override
        public String getDescription() {
            return "packages, with an API and its spi as one";
        }
    }
}
