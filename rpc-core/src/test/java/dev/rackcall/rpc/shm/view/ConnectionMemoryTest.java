package dev.rackcall.rpc.shm.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.shm.notes.ProcessId;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.shm.os.file.FileStatus;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What an observer reads in the memory of a connection, and in memory that pretends to be one. */
@Timeout(180)
class ConnectionMemoryTest {
    private static final long SEED = Long.getLong("rackcall.seed", System.nanoTime());
    private static final int CASES = Integer.getInteger("rackcall.cases", 2000);
    private static final String CHANNEL = "/view/echo";
    private static final int SLOTS = 16;
    private static final long BYTES = 1 << 20;
    /** "RKARENA1", as an arena begins. */
    private static final long ARENA_MAGIC = 0x31414e4552414b52L;

    @TempDir
    private Path runtime;

    private static Path pathOf(SharedFile file) {
        return Path.of("/proc/self/fd/" + file.fd());
    }

    private static ConnectionMemory open(SharedFile file) throws IOException, InvalidMemoryException {
        return ConnectionMemory.open(pathOf(file)).orElseThrow();
    }

    private static SharedFile memory(String name) {
        SharedFile file = SharedFile.memfd(name, BYTES);
        file.reserve(0, ControlLayout.slotBytes(SLOTS));
        return file;
    }

    /** This process's descriptors of memory with that name. */
    private static List<Path> descriptors(String name) throws IOException {
        try (Stream<Path> links = Files.list(Path.of("/proc/self/fd"))) {
            return links.filter(link -> {
                        try {
                            return Files.readSymbolicLink(link).toString().contains(name);
                        } catch (IOException e) {
                            return false;
                        }
                    })
                    .toList();
        }
    }

    private static ConnectionReading read(ConnectionMemory memory) {
        try {
            return memory.read();
        } catch (IOException | InvalidMemoryException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldCountTheRequestsOfAConnection() throws Exception {
        try (RpcServer server = RpcServer.builder()
                        .service(Echo.class, new EchoService(), CHANNEL)
                        .runtimeFolder(runtime)
                        .start();
                RpcChannel channel =
                        RpcChannel.builder(CHANNEL).runtimeFolder(runtime).open()) {
            Echo echo = channel.stub(Echo.class);
            echo.add(1, 2);
            try (ConnectionMemory memory = ConnectionMemory.open(
                            descriptors("memfd:rackcall" + CHANNEL + " ").getFirst())
                    .orElseThrow()) {
                ConnectionReading before = read(memory);
                assertThat(before.server()).isEqualTo(ProcessId.current());
                assertThat(before.client()).isEqualTo(ProcessId.current());
                assertThat(before.state()).isEqualTo(ConnectionState.OPEN);
                for (int i = 0; i < 1000; i++) {
                    echo.add(i, 1);
                }
                ConnectionReading after = read(memory);
                assertThat(after.requests() - before.requests()).isEqualTo(1000);
                assertThat(after.inFlight()).isZero();
                long timed = after.times().since(before.times()).timed();
                assertThat(timed).isBetween(1000L / 80, 1000L / 50);
                for (int i = 0; i < 1000; i++) {
                    echo.later(i, 0).join();
                }
                assertThat(read(memory).times().since(after.times()).timed()).isBetween(1000L / 80, 1000L / 50);

                CompletableFuture<Boolean> blocked = CompletableFuture.supplyAsync(() -> echo.block(60_000));
                Await.until("a call in flight", () -> read(memory).inFlight() == 1);
                Await.until("a caller that sleeps", () -> read(memory).sleeping() == 1);
                server.close();
                Await.until("the end", () -> read(memory).state() != ConnectionState.OPEN);
                blocked.exceptionally(_ -> true).join();
            }
        }
    }

    @Test
    void shouldCountWaitsAndReadHowFullArenasAre() throws Exception {
        try (RpcServer server = RpcServer.builder()
                        .service(Echo.class, new EchoService(), CHANNEL)
                        .runtimeFolder(runtime)
                        .start();
                RpcChannel channel = RpcChannel.builder(CHANNEL)
                        .runtimeFolder(runtime)
                        .slots(2)
                        .arenaQuota(BYTES)
                        .open()) {
            assertThat(server.channels()).containsExactly(CHANNEL);
            Echo echo = channel.stub(Echo.class);
            echo.add(1, 2);
            try (ConnectionMemory memory = ConnectionMemory.open(
                            descriptors("memfd:rackcall" + CHANNEL + " ").getFirst())
                    .orElseThrow()) {
                ConnectionReading before = read(memory);
                assertThat(before.route())
                        .hasValueSatisfying(
                                route -> assertThat(route.isMemory()).isTrue());
                Await.until("a caller that slept", () -> {
                    echo.block(5);
                    return waits(memory, before).slept() > 0;
                });
                Await.until("a caller that waited for a slot", () -> {
                    List<CompletableFuture<Boolean>> calls = Stream.generate(
                                    () -> Concurrently.start(() -> echo.block(20)))
                            .limit(4)
                            .toList();
                    calls.forEach(Concurrently::get);
                    return waits(memory, before).slots() > 0;
                });
                Await.until(
                        "a server that stopped polling",
                        () -> waits(memory, before).pauses() > 0);

                List<ArenaReading> arenas = memory.arenas();
                assertThat(arenas).hasSize(2).allSatisfy(arena -> {
                    assertThat(arena.quotaBytes()).isEqualTo(BYTES);
                    assertThat(arena.takenBytes()).isBetween(1L, BYTES);
                });
                echo.bytes(new byte[(int) BYTES / 2]);
                assertThat(memory.arenas().getFirst().takenBytes())
                        .isGreaterThan(arenas.getFirst().takenBytes())
                        .isGreaterThan(BYTES / 2);
            }
        }
    }

    private static WaitReading waits(ConnectionMemory memory, ConnectionReading before) {
        return read(memory).waits().since(before.waits());
    }

    @Test
    void shouldNotBelieveArenasThatDoNotFit() throws Exception {
        long quota = 4 * ControlLayout.PAGE;
        long at = ControlLayout.controlBytes(SLOTS);
        try (SharedFile file = memory("rackcall/view/arenas");
                Mapping mapping = file.map()) {
            file.reserve(0, at + 2 * quota);
            ControlLayout.initialise(mapping.memory(), SLOTS, 1);
            try (ConnectionMemory observed = open(file)) {
                observed.read();
                assertThat(observed.arenas()).as("without arenas").isEmpty();
                arena(mapping.memory(), at, quota, quota);
                arena(mapping.memory(), at + quota, quota, 1);
                assertThat(observed.arenas())
                        .containsExactly(new ArenaReading(quota, quota), new ArenaReading(1, quota));
                for (long wrong : List.of(-1L, Long.MIN_VALUE, Long.MAX_VALUE, quota + 1, BYTES)) {
                    arena(mapping.memory(), at, quota, wrong);
                    assertThat(observed.arenas()).as("taken " + wrong).isEmpty();
                    arena(mapping.memory(), at, wrong, 0);
                    assertThat(observed.arenas()).as("quota " + wrong).isEmpty();
                }
            }
        }
    }

    private static void arena(MemorySegment memory, long at, long quota, long taken) {
        memory.set(ValueLayout.JAVA_LONG, at, ARENA_MAGIC);
        memory.set(ValueLayout.JAVA_LONG, at + 16, quota);
        memory.set(ValueLayout.JAVA_LONG, at + 24, taken);
    }

    @Test
    void shouldOpenMemoryForReadingOnlyAndMapNone() throws Exception {
        String name = "rackcall/view/readonly";
        try (SharedFile file = memory(name);
                Mapping mapping = file.map()) {
            ControlLayout.initialise(mapping.memory(), SLOTS, 1);
            long allocated = FileStatus.ofTarget(pathOf(file)).orElseThrow().allocatedBytes();
            try (ConnectionMemory memory = open(file)) {
                assertThat(memory.read().slots()).isEqualTo(SLOTS);
                List<Path> others = descriptors("memfd:" + name + " ").stream()
                        .filter(link -> !link.getFileName().toString().equals(Integer.toString(file.fd())))
                        .toList();
                assertThat(others).hasSize(1);
                // The permissions of such a link are those of the open file.
                assertThat(Files.getPosixFilePermissions(others.getFirst(), LinkOption.NOFOLLOW_LINKS))
                        .contains(PosixFilePermission.OWNER_READ)
                        .doesNotContain(PosixFilePermission.OWNER_WRITE);
                try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
                    assertThat(maps.filter(line -> line.contains(name)))
                            .as("the owner's mapping")
                            .hasSize(1);
                }
                assertThat(FileStatus.ofTarget(pathOf(file)).orElseThrow().allocatedBytes())
                        .as("memory of the file, which reading must not add to")
                        .isEqualTo(allocated);
            }
        }
    }

    @Test
    void shouldRefuseWhatIsNoConnection() throws Exception {
        try (SharedFile file = memory("rackcall/view/other");
                Mapping mapping = file.map()) {
            assertThat(ConnectionMemory.open(pathOf(file)))
                    .as("unwritten memory")
                    .isEmpty();
            mapping.memory().set(ValueLayout.JAVA_LONG, 0, 42);
            assertThatThrownBy(() -> open(file)).isInstanceOf(InvalidMemoryException.class);
        }
        assertThatThrownBy(() -> ConnectionMemory.open(runtime)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> ConnectionMemory.open(Path.of("/dev/zero"))).isInstanceOf(IOException.class);
    }

    @Test
    void shouldExplainWhatMakesNoSense() throws Exception {
        try (SharedFile file = memory("rackcall/view/wrong");
                Mapping mapping = file.map()) {
            MemorySegment memory = mapping.memory();
            ControlLayout.initialise(memory, SLOTS, 1);
            try (ConnectionMemory observed = open(file)) {
                memory.set(ValueLayout.JAVA_INT, 12, 1 << 30);
                assertThatThrownBy(observed::read).hasMessage("its slot count is " + (1 << 30));
                memory.set(ValueLayout.JAVA_INT, 12, 4096);
                assertThatThrownBy(observed::read).hasMessageContaining("do not fit into its 1048576 bytes");
                memory.set(ValueLayout.JAVA_INT, 12, SLOTS);

                SlotLayout.publishRequest(memory, ControlLayout.slot(3), SlotLayout.word(3, 0, 0, 0));
                assertThat(observed.read().requests()).isEqualTo(4);
                SlotLayout.publishRequest(memory, ControlLayout.slot(3), SlotLayout.word(4, 0, 0, 0));
                assertThatThrownBy(observed::read).hasMessage("request 5 lies in slot 3 of 16");
                SlotLayout.publishRequest(memory, ControlLayout.slot(3), SlotLayout.word(16 * 100 + 3, 0, 0, 0));
                assertThatThrownBy(observed::read).hasMessageContaining("slot 0 is more than a lap behind");
                SlotLayout.publishRequest(memory, ControlLayout.slot(3), SlotLayout.word(3, 0, 0, 0));
                ControlLayout.consumed(memory, 5);
                assertThatThrownBy(observed::read)
                        .hasMessage("its server took 5 requests, its client sent 4 (modulo 2^32)");
                ControlLayout.consumed(memory, 4);
                ControlLayout.state(memory, 77);
                assertThatThrownBy(observed::read).hasMessageContaining("its state is 77");
            }
        }
    }

    /** Counts go on when the low half of the ticket, which is all that slots hold, begins anew. */
    @Test
    void shouldCountBeyondTheLowHalfOfTickets() throws Exception {
        try (SharedFile file = memory("rackcall/view/many");
                Mapping mapping = file.map()) {
            MemorySegment memory = mapping.memory();
            ControlLayout.initialise(memory, SLOTS, 1);
            long start = (7L << 32) - 8;
            for (long ticket = start; ticket < start + SLOTS; ticket++) {
                long slot = ControlLayout.slot((int) ticket & (SLOTS - 1));
                SlotLayout.publishRequest(memory, slot, SlotLayout.word(ticket, 0, 0, 0));
                SlotLayout.publishResponse(memory, slot, SlotLayout.word(ticket - SLOTS, 0, 0, 0));
            }
            ControlLayout.consumed(memory, start + 4);
            try (ConnectionMemory observed = open(file)) {
                assertThat(observed.read().requests()).isEqualTo(start + SLOTS);
                assertThat(observed.read().inFlight()).isEqualTo(SLOTS);
            }
        }
    }

    /** Whatever the memory holds, the observer gets numbers within bounds or an explanation. */
    @Test
    void shouldSurviveAnyContent() throws Exception {
        Random random = new Random(SEED);
        byte[] noise = new byte[(int) ControlLayout.slotBytes(SLOTS)];
        try (SharedFile file = memory("rackcall/view/hostile");
                Mapping mapping = file.map()) {
            MemorySegment memory = mapping.memory();
            ControlLayout.initialise(memory, SLOTS, 1);
            int refused = 0;
            try (ConnectionMemory observed = open(file)) {
                for (int i = 0; i < CASES; i++) {
                    // Some words of a sound page, or all of it.
                    if (i % 2 == 0) {
                        random.nextBytes(noise);
                        MemorySegment.copy(noise, 0, memory, ValueLayout.JAVA_BYTE, 0, noise.length);
                    } else {
                        memory.asSlice(0, noise.length).fill((byte) 0);
                    }
                    ControlLayout.initialise(memory, SLOTS, 1);
                    for (int words = random.nextInt(4); words > 0; words--) {
                        memory.set(ValueLayout.JAVA_INT, 4L * random.nextInt(noise.length / 4), random.nextInt());
                    }
                    try {
                        ConnectionReading reading = observed.read();
                        assertThat(reading.inFlight())
                                .as("seed %d, case %d", SEED, i)
                                .isBetween(0, SLOTS);
                        assertThat(reading.sleeping())
                                .as("seed %d, case %d", SEED, i)
                                .isBetween(0, SLOTS);
                        assertThat(reading.requests())
                                .as("seed %d, case %d", SEED, i)
                                .isNotNegative();
                    } catch (InvalidMemoryException e) {
                        refused++;
                    }
                }
            }
            assertThat(refused).as("seed %d", SEED).isGreaterThan(CASES / 2 - 1);
        }
    }
}
