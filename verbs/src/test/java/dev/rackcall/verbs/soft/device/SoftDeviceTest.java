package dev.rackcall.verbs.soft.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.Bench;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.Connected;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Devices;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.Opcode;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import dev.rackcall.verbs.soft.wire.Links;
import dev.rackcall.verbs.soft.wire.SoftGid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Guarantees of the software device beyond the contract. */
class SoftDeviceTest {
    private static final int ROUNDS = 300;
    private static final int WARM_REQUESTS = Integer.getInteger("rackcall.verbs.warm", 0);

    private final Device device = SoftDevice.of("test", SoftOptions.local());
    private final WorkRequest request = WorkRequest.create(1, 64);

    @Test
    void shouldExistOnEveryHost() {
        assertThat(Devices.list()).extracting(Device::name).contains("soft:local");
        assertThat(Devices.find("soft:anything").name()).isEqualTo("soft:anything");
        assertThat(Devices.diagnosis()).anyMatch(line -> line.contains("soft:NAME"));
        assertThatThrownBy(() -> Devices.find("nope0"))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("nope0")
                .hasMessageContaining("soft:local");
    }

    @Test
    void shouldNameAnAddressWhereItCannotListen() throws Exception {
        try (Bench a = new Bench(device)) {
            int port = SoftGid.address(a.gid()).getPort();
            SoftOptions taken = SoftOptions.local().at(SoftOptions.local().address(), port);
            assertThatThrownBy(() -> SoftDevice.of("second", taken).open())
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining(String.valueOf(port));
        }
        SoftOptions ipv6 = SoftOptions.local().at(InetAddress.ofLiteral("::1"), 0);
        assertThatThrownBy(() -> SoftDevice.of("six", ipv6).open()).isInstanceOf(VerbsException.class);
    }

    @Test
    void shouldRefuseAGidOfAnotherKind() throws Exception {
        try (Bench a = new Bench(device)) {
            AddressVector elsewhere = AddressVector.of(new Gid(0, 0xFFFF0A000001L), 0);
            assertThatThrownBy(() -> a.domain.createAddressHandle(elsewhere))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("not a software device's GID");
        }
    }

    @Test
    void shouldRefuseMemoryThatItCannotReach() throws Exception {
        try (Bench a = new Bench(device);
                Arena confined = Arena.ofConfined()) {
            assertThatThrownBy(() -> a.register(MemorySegment.ofArray(new byte[8]), EnumSet.of(Access.LOCAL_WRITE)))
                    .isInstanceOfSatisfying(
                            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsErrno.EFAULT));
            assertThatThrownBy(() -> a.register(confined.allocate(64), EnumSet.of(Access.LOCAL_WRITE)))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("shared arena");
        }
    }

    @Test
    void shouldSurviveMemoryThatVanishes() throws Exception {
        try (Connected pair = new Connected(device)) {
            Arena arena = Arena.ofShared();
            var region = pair.b.register(arena.allocate(4096), EnumSet.allOf(Access.class));
            arena.close();
            request.write(region.address(), region.remoteKey()).inline(1).signaled();
            assertThat(pair.run(request).status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    /**
     * A file may be cut, or have a hole while no huge page is free: then the kernel sends a signal. Code of the
     * optimizing compiler gets the error late. To test compiled code, use
     * {@code -Drackcall.test.compiler= -Drackcall.verbs.warm=200000}, as in {@code ./rackcall test --long}.
     */
    @ParameterizedTest
    @EnumSource(
            value = Opcode.class,
            names = {"WRITE", "READ", "COMPARE_AND_SWAP", "SEND"})
    void shouldSurviveAFileWhosePagesVanish(Opcode opcode, @TempDir Path folder) throws Exception {
        try (Connected pair = new Connected(device);
                FileChannel file = FileChannel.open(
                        folder.resolve("cut"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            MemorySegment memory = file.map(FileChannel.MapMode.READ_WRITE, 0, 4096, Arena.ofAuto());
            MemoryRegion region = pair.b.register(memory, EnumSet.allOf(Access.class));
            for (int i = 0; i < WARM_REQUESTS; i++) {
                pair.qb.postReceive(ReceiveRequest.create(1).into(region, 0, 64));
                pair.succeed(reaching(opcode, region, pair.a.region));
                if (opcode == Opcode.SEND) {
                    pair.b.next();
                }
            }
            file.truncate(0);
            pair.qb.postReceive(ReceiveRequest.create(1).into(region, 0, 64));
            assertThat(pair.run(reaching(opcode, region, pair.a.region)).status())
                    .isIn(CompletionStatus.REMOTE_ACCESS_ERROR, CompletionStatus.REMOTE_OPERATION_ERROR);
            try (Connected next = new Connected(pair.a, pair.b, Bench.PATIENT, InitAttributes.connected())) {
                pair.b.write(request).inline(1).signaled();
                next.succeed(request);
            }
        }
    }

    private WorkRequest reaching(Opcode opcode, MemoryRegion theirs, MemoryRegion ours) {
        WorkRequest made = switch (opcode) {
            case WRITE -> request.write(theirs.address(), theirs.remoteKey()).from(ours, 0, 64);
            case READ -> request.read(theirs.address(), theirs.remoteKey()).from(ours, 0, 64);
            case COMPARE_AND_SWAP ->
                request.compareAndSwap(theirs.address(), theirs.remoteKey(), 0, 1)
                        .from(ours, 0, 8);
            default -> request.send().from(ours, 0, 64);
        };
        return made.signaled();
    }

    /** A program that sees a failed completion finds its queue pair failed, at both ends. */
    @Test
    void shouldFailBeforeTheCompletionIsSeen() throws Exception {
        try (Connected pair = new Connected(device)) {
            for (int i = 0; i < ROUNDS; i++) {
                pair.qb.postReceive(pair.b.receive(1, 0, 100));
                pair.qa.postSend(request.send().from(pair.a.region, 0, 101).signaled());
                assertThat(pair.b.next().status()).isEqualTo(CompletionStatus.LOCAL_LENGTH_ERROR);
                assertThat(pair.qb.state()).isEqualTo(QueuePairState.ERROR);
                assertThat(pair.a.next().status()).isEqualTo(CompletionStatus.REMOTE_INVALID_REQUEST);
                assertThat(pair.qa.state()).isEqualTo(QueuePairState.ERROR);
                pair.reconnect();
            }
        }
    }

    @Test
    void shouldFailALongDatagramAndComeBack() throws Exception {
        try (Bench a = new Bench(device)) {
            QueuePair queuePair = a.datagrams(1);
            var self = a.keep(a.domain.createAddressHandle(a.pathTo(a)));
            queuePair.postSend(request.send().from(a.region, 0, 4097).to(self, queuePair.number(), 1));
            assertThat(a.next().status()).isEqualTo(CompletionStatus.LOCAL_LENGTH_ERROR);
            assertThat(queuePair.state()).isEqualTo(QueuePairState.SEND_QUEUE_ERROR);

            queuePair.toReadyToSend(Bench.PATIENT);
            queuePair.postReceive(a.receive(1, 0, 100));
            queuePair.postSend(request.send()
                    .from(a.region, 0, 10)
                    .to(self, queuePair.number(), 1)
                    .id(2));
            assertThat(a.next().id()).isEqualTo(1);
        }
    }

    /** As on hardware, a program that never signals never gets places in the queue back. */
    @Test
    void shouldKeepPlacesUntilASignal() throws Exception {
        try (Connected pair = new Connected(device)) {
            pair.b.write(request);
            for (int i = 0; i < 127; i++) {
                assertThat(pair.qa.postSend(request.inline(i))).isTrue();
            }
            pair.succeed(request.signaled());
            pair.b.write(request).inline(1);
            for (int i = 0; i < 128; i++) {
                assertThat(pair.qa.postSend(request)).isTrue();
            }
            assertThat(pair.qa.postSend(request)).isFalse();
        }
    }

    /** B polls busily for a while and then stops; its memory can still be written. */
    @Test
    void shouldServeOneSidedRequestsAfterBusyPollingStops() throws Exception {
        CompletionQueueSpec busy = CompletionQueueSpec.of(64).polledBusily();
        try (Connected pair = new Connected(
                new Bench(device, busy), new Bench(device, busy), Bench.PATIENT, InitAttributes.connected())) {
            Completions none = Completions.create(1);
            pair.b.write(request);
            for (int i = 1; i <= 1000; i++) {
                pair.qa.postSend(request.inline(i).signaled());
                long expected = i;
                Bench.waitUntil("B has it", () -> {
                    pair.b.completions.poll(none);
                    return pair.b.memory.get(ValueLayout.JAVA_LONG, 0) == expected;
                });
                assertThat(pair.a.next().status()).isEqualTo(CompletionStatus.SUCCESS);
            }
            pair.succeed(request.inline(-1).signaled());
        }
    }

    @Test
    void shouldReadByItselfAsSoonAsAPollingThreadRests() throws Exception {
        CompletionQueueSpec busy = CompletionQueueSpec.of(64).polledBusily();
        try (Connected pair =
                new Connected(new Bench(device, busy), new Bench(device), Bench.PATIENT, InitAttributes.connected())) {
            Links links = ((SoftContext) pair.a.context).core().links();
            pair.b.write(request);
            Bench.waitUntil("this thread reads A's links", () -> {
                pair.succeed(request.inline(1).signaled());
                return links.isPolled();
            });
            pair.a.completions.rest();
            assertThat(links.isPolled()).isFalse();
        }
    }

    @Test
    void shouldReadByItselfWhereAThreadPollsNowAndThen() throws Exception {
        CompletionQueueSpec busy = CompletionQueueSpec.of(64).polledBusily();
        try (Connected pair =
                new Connected(new Bench(device, busy), new Bench(device), Bench.PATIENT, InitAttributes.connected())) {
            Links links = ((SoftContext) pair.a.context).core().links();
            Completions batch = Completions.create(1);
            pair.b.write(request);
            pair.succeed(request.inline(1).signaled());
            pair.a.completions.rest();
            CountDownLatch still = new CountDownLatch(1);
            links.execute(() -> awaitUninterruptibly(still));
            pair.qa.postSend(request.inline(2).signaled());
            Bench.waitUntil("this thread takes the answer", () -> {
                // Longer than busy polls are apart.
                LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(50));
                return pair.a.completions.poll(batch) == 1;
            });
            assertThat(links.isPolled()).isFalse();
            still.countDown();
        }
    }

    /**
     * The whole process stops for longer than its timeout, as on a paused machine: the answer arrived, but was not read.
     */
    @Test
    void shouldNotMistakeItsOwnStopForThePeersSilence() throws Exception {
        CompletionQueueSpec busy = CompletionQueueSpec.of(64).polledBusily();
        // Twice four times 268 ms.
        ReadyToSend patience = ReadyToSend.defaults().withRetries(16, 1);
        try (Connected pair =
                new Connected(new Bench(device, busy), new Bench(device), patience, InitAttributes.connected())) {
            Links links = ((SoftContext) pair.a.context).core().links();
            CountDownLatch still = new CountDownLatch(1);
            CountDownLatch lookedAt = new CountDownLatch(1);
            pair.b.write(request);
            pair.succeed(request.inline(1).signaled());
            links.execute(() -> awaitUninterruptibly(still));
            // This thread reads the answer, so the event loop does not read until it finds that no thread polls.
            pair.succeed(request.inline(2).signaled());
            pair.qa.postSend(request.inline(-1).signaled());
            long begin = System.nanoTime();
            Bench.waitUntil(
                    "more than the patience is over",
                    () -> System.nanoTime() - begin > TimeUnit.MILLISECONDS.toNanos(4_000));
            links.later(lookedAt::countDown, TimeUnit.MILLISECONDS.toNanos(300));
            still.countDown();
            awaitUninterruptibly(lookedAt);
            assertThat(pair.a.next().status()).isEqualTo(CompletionStatus.SUCCESS);
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void shouldAllocateNothingPerMessage() throws Exception {
        CompletionQueueSpec busy = CompletionQueueSpec.of(64).polledBusily();
        try (Connected pair = new Connected(
                new Bench(device, busy), new Bench(device, busy), Bench.PATIENT, InitAttributes.connected())) {
            ReceiveRequest receive = pair.b.receive(1, 0, 64);
            Completions batch = Completions.create(4);
            var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
            long id = Thread.currentThread().threadId();
            long least = Long.MAX_VALUE;
            // The first rounds allocate objects that are kept. So does a round in which this thread did not poll for
            // long and had to take over from the event loop again.
            for (int round = 0; round < 500 && least > 0; round++) {
                long before = threads.getThreadAllocatedBytes(id);
                pingPong(pair, receive, batch, 100);
                least = Math.min(least, threads.getThreadAllocatedBytes(id) - before);
            }
            assertThat(least).as("bytes in 100 messages").isZero();
        }
    }

    private void pingPong(Connected pair, ReceiveRequest receive, Completions batch, int count) {
        for (int i = 0; i < count; i++) {
            pair.qb.postReceive(receive);
            pair.qa.postSend(request.send().from(pair.a.region, 0, 64).signaled());
            for (int done = 0; done < 2; ) {
                done += pair.b.completions.poll(batch) + pair.a.completions.poll(batch);
            }
        }
    }
}
