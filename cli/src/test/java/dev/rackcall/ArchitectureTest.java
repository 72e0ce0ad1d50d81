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
import org.junit.jupiter.api.Test;

/** Checks the module borders of docs/architecture.md in the classes of all modules. */
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
    private static final String VIEW = "dev.rackcall.rpc.shm.view";
    private static final String NOTES = "dev.rackcall.rpc.shm.notes";
    private static final String DIRECTORY = "dev.rackcall.directory..";
    private static final String DIRECTORY_STORES = "dev.rackcall.directory.file..";
    private static final String ZOOKEEPER = "dev.rackcall.directory.zookeeper..";
    private static final String RDMA = "dev.rackcall.rdma..";
    private static final String LOCK = "dev.rackcall.lock..";
    private static final String CONTROL_PLANE = "dev.rackcall.cp..";
    private static final String ROUTE = "dev.rackcall.route..";
    private static final String GRPC = "dev.rackcall.grpc..";
    private static final String METRICS = "dev.rackcall.metrics..";
    private static final String TRACING = "dev.rackcall.tracing..";
    private static final String CHRONICLE = "dev.rackcall.chronicle..";
    private static final String JUNIT = "dev.rackcall.junit..";
    private static final String SPRING = "dev.rackcall.spring..";
    private static final String SAMPLES = "dev.rackcall.samples..";
    private static final String PERF = "dev.rackcall.perf..";
    private static final String RACK = "dev.rackcall.rack..";
    private static final String RACK_GUEST = "dev.rackcall.rack.guest..";
    private static final String CLI = "dev.rackcall.cli..";

    private static final DescribedPredicate<JavaClass> OURS = resideInAPackage("dev.rackcall..");

    /** Read once for this test and {@link RoomsTest}, because reading takes seconds. */
    static final JavaClasses ALL = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("dev.rackcall");

    /** A rule about a module that is not on the class path would check nothing. */
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
                GRPC,
                METRICS,
                TRACING,
                CHRONICLE,
                JUNIT,
                SPRING,
                RACK,
                CLI)) {
            assertThat(ALL.that(resideInAPackage(module))).as(module).isNotEmpty();
        }
    }

    @Test
    void shouldKeepTheProcessorFreeOfTheRuntime() {
        classes()
                .that()
                .resideInAPackage(PROCESSOR)
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(PROCESSOR, "java..", "javax..", "com.palantir.javapoet.."))
                .check(ALL);
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

    /** Verbs depends on no other module, and one package links native code for real devices. */
    @Test
    void shouldKeepVerbsFreeOfEverythingElse() {
        mayUseOnly(VERBS, VERBS);
        mayUseOnly(VERBS_NATIVE, VERBS_NATIVE);
    }

    /** Names, leases and quotas use the SPI and behave alike over every store. Only the optional ZooKeeper module uses ZooKeeper. */
    @Test
    void shouldKeepDirectoriesFreeOfCallsAndOfTheirStores() {
        mayUseOnly(DIRECTORY, DIRECTORY, MEMORY);
        noClasses()
                .that()
                .resideInAnyPackage("dev.rackcall.directory", "dev.rackcall.directory.spi")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(DIRECTORY_STORES, ZOOKEEPER)
                .check(ALL);
        noClasses()
                .that(OURS.and(not(resideInAPackage(ZOOKEEPER))))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.apache.zookeeper..", "org.apache.curator..")
                .check(ALL);
    }

    /** Carriers are found through their provider. Another rule limits what RDMA sees of the runtime. */
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
                "dev.rackcall.rpc.balance",
                "dev.rackcall.rpc.runtime",
                "dev.rackcall.rpc.schema",
                "dev.rackcall.rpc.shm",
                DIRECTORY,
                MEMORY);
        noClasses()
                .that(OURS.and(not(resideInAPackage(ROUTE))))
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ROUTE)
                .check(ALL);
    }

    /** ALock uses devices and memory, but no calls. */
    @Test
    void shouldKeepTheLockFreeOfCalls() {
        mayUseOnly(LOCK, LOCK, VERBS, MEMORY);
    }

    /** Virtual queues carry bytes, whose meaning their users know. A directory names the meta server. */
    @Test
    void shouldKeepTheControlPlaneFreeOfCalls() {
        mayUseOnly(CONTROL_PLANE, CONTROL_PLANE, VERBS, DIRECTORY, MEMORY);
    }

    /**
     * A separate transport for grpc-java: names and handshake come from the runtime and the directory, devices by the
     * SPI, and what it tells {@code rackcall top} from the notes; calls do not.
     */
    @Test
    void shouldLetGrpcUseTheRuntimeAndMemory() {
        mayUseOnly(GRPC, GRPC, "dev.rackcall.rpc", SPI, "dev.rackcall.rpc.runtime", NOTES, DIRECTORY, MEMORY);
    }

    /**
     * What users choose to add sees the API only, and no module needs it; the starter finds metrics if they are there, and
     * the benchmarks measure what they cost.
     */
    @Test
    void shouldKeepAdditionsToTheApi() {
        mayUseOnly(METRICS, METRICS, "dev.rackcall.rpc", "dev.rackcall.sandbox", "dev.rackcall.shm.waiting");
        mayUseOnly(TRACING, TRACING, "dev.rackcall.rpc");
        mayUseOnly(CHRONICLE, CHRONICLE, "dev.rackcall.rpc", SPI, MEMORY);
        mayUseOnly(JUNIT, JUNIT, "dev.rackcall.rpc");
        mayUseOnly(SPRING, SPRING, METRICS, "dev.rackcall.rpc", "dev.rackcall.shm");
        for (String addition : Set.of(METRICS, TRACING, CHRONICLE, JUNIT, SPRING)) {
            noClasses()
                    .that(OURS.and(not(resideInAnyPackage(addition, SPRING, PERF))))
                    .should()
                    .dependOnClassesThat()
                    .resideInAPackage(addition)
                    .check(ALL);
        }
    }

    @Test
    void shouldKeepSamplesAndBenchmarksApart() {
        mayUseOnly(SAMPLES, SAMPLES, RDMA, RPC, CONTROL_PLANE, VERBS, DIRECTORY, MEMORY);
        mayUseOnly(PERF, PERF, METRICS, TRACING, GRPC, LOCK, RDMA, RPC, CONTROL_PLANE, VERBS, SANDBOX, MEMORY);
    }

    /** The machine's side of a rack uses nothing of Rackcall, and the guests' programs use nothing of the machine's side. */
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

    /** Clocks of hosts differ: leases and deadlines use the monotonic clock of one process, or the kernel or the ensemble counts them. */
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
                .check(ALL);
    }

    /**
     * Only channels, servers and routes reach transports, through {@code rpc.shm.Transports} and {@code HostServers};
     * other code uses channels, servers and routes. {@code rackcall top} only looks at their memory.
     */
    @Test
    void shouldLetOnlyChannelsAndRoutesNameATransport() {
        noClasses()
                .that(OURS.and(not(
                        resideInAnyPackage(TRANSPORT, "dev.rackcall.rpc.channel", "dev.rackcall.rpc.balance", ROUTE))))
                .should()
                .dependOnClassesThat(resideInAPackage(TRANSPORT).and(not(resideInAnyPackage(VIEW, NOTES))))
                .check(ALL);
        noClasses()
                .that(OURS.and(not(resideInAnyPackage(VIEW, CLI))))
                .should()
                .dependOnClassesThat()
                .resideInAPackage(VIEW)
                .check(ALL);
        noClasses()
                .that(OURS.and(not(resideInAnyPackage(TRANSPORT, GRPC, CLI))))
                .should()
                .dependOnClassesThat()
                .resideInAPackage(NOTES)
                .check(ALL);
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
                .check(ALL);
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
                .check(ALL);
    }

    @Test
    void shouldNotUseReflectionOnTheCallPath() {
        noClasses()
                .that()
                .resideInAnyPackage(TRANSPORT, "dev.rackcall.shm.codec..", "dev.rackcall.shm.waiting..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("java.lang.reflect..")
                .check(ALL);
    }

    /** Loading it costs time and memory, and only objects of registered classes need it. */
    @Test
    void shouldNameKryoWhereObjectsTravelOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackage(PERF)
                .and()
                .haveNameNotMatching(
                        "dev\\.rackcall\\.rpc\\.runtime\\.(KryoObjects|ContainerSerializers|BoundedInput).*")
                .and(OURS)
                .should()
                .dependOnClassesThat()
                .resideInAPackage("com.esotericsoftware..")
                .check(ALL);
    }

    @Test
    void shouldNotPrintFromLibraries() {
        noClasses()
                .that()
                .resideInAnyPackage(MEMORY, SANDBOX, VERBS, CONTROL_PLANE, RPC, ROUTE, DIRECTORY, PROCESSOR)
                .should(GeneralCodingRules.ACCESS_STANDARD_STREAMS)
                .check(ALL);
    }

    @Test
    void shouldHaveNoCyclesBetweenPackages() {
        SlicesRuleDefinition.slices()
                .assignedFrom(new PackageSlices())
                .should()
                .beFreeOfCycles()
                .check(ALL);
    }

    @Test
    void shouldDescribeEveryPackage() throws IOException {
        Set<Path> undescribed;
        try (Stream<Path> sources = Files.find(
                Path.of("..").toRealPath(),
                20,
                (file, attributes) -> file.toString().endsWith(".java")
                        && file.toString().contains("/src/main/java/")
                        // Projects of users.
                        && !file.toString().contains("/tools/consumer/"))) {
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

    /** Checks which of our packages a module's classes use; the pom controls foreign libraries. */
    private static void mayUseOnly(String module, String... allowed) {
        noClasses()
                .that()
                .resideInAPackage(module)
                .should()
                .dependOnClassesThat(OURS.and(not(resideInAnyPackage(allowed))))
                .allowEmptyShould(true)
                .check(ALL);
    }

    /**
     * One slice per package, but the API and its two borders are one: a channel opens a transport through {@code spi}, and {@code spi} uses
     * the API's words (status, metadata, deadline).
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
