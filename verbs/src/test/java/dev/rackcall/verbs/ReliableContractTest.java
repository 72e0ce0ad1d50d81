package dev.rackcall.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Reliable connected queue pairs without errors. */
@ParameterizedClass(name = "{0}")
@MethodSource("dev.rackcall.verbs.ContractDevices#all")
class ReliableContractTest {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private final Device device;
    private final WorkRequest request = WorkRequest.create(3, 64);
    private Connected pair;

    ReliableContractTest(Device device) {
        this.device = device;
    }

    @BeforeEach
    void connect() {
        pair = new Connected(device);
    }

    @AfterEach
    void close() throws Exception {
        pair.close();
    }

    @Test
    void shouldDeliverAMessage() {
        pair.a.fill(1);
        assertThat(pair.qb.postReceive(pair.b.receive(7, 4096, 1000))).isTrue();

        Bench.Done sent =
                pair.run(request.send().from(pair.a.region, 8, 500).id(3).signaled());
        Bench.Done received = pair.b.next();

        assertThat(sent.id()).isEqualTo(3);
        assertThat(sent.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(sent.opcode()).isEqualTo(CompletionOpcode.SEND);
        assertThat(sent.queuePair()).isEqualTo(pair.qa.number());
        assertThat(received.id()).isEqualTo(7);
        assertThat(received.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(received.opcode()).isEqualTo(CompletionOpcode.RECEIVE);
        assertThat(received.bytes()).isEqualTo(500);
        assertThat(received.hasImmediate()).isFalse();
        assertThat(received.queuePair()).isEqualTo(pair.qb.number());
        assertThat(same(8, 4096, 500)).isTrue();
    }

    @Test
    void shouldDeliverAnEmptyMessageWithImmediate() {
        pair.qb.postReceive(ReceiveRequest.create(0).start(7));

        pair.succeed(request.sendWithImmediate(0xCAFEBABE).signaled());
        Bench.Done received = pair.b.next();

        assertThat(received.bytes()).isZero();
        assertThat(received.hasImmediate()).isTrue();
        assertThat(received.immediate()).isEqualTo(0xCAFEBABE);
    }

    @Test
    void shouldWriteWithoutThePeersProgram() {
        pair.a.fill(2);
        pair.qb.postReceive(pair.b.receive(7, 0, 16));

        Bench.Done written = pair.run(
                pair.b.write(request, 100).from(pair.a.region, 64, 3001).signaled());

        assertThat(written.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(written.opcode()).isEqualTo(CompletionOpcode.WRITE);
        assertThat(same(64, 100, 3001)).isTrue();
        assertThat(pair.b.memory.get(ValueLayout.JAVA_BYTE, 99)).isZero();
        assertThat(pair.b.memory.get(ValueLayout.JAVA_BYTE, 3101)).isZero();
        assertThat(pair.b.now()).isEmpty();
    }

    @Test
    void shouldConsumeAReceiveByAWriteWithImmediate() {
        pair.a.fill(3);
        pair.qb.postReceive(pair.b.receive(9, 0, 16));

        pair.run(request.writeWithImmediate(pair.b.region.address() + 4096, pair.b.region.remoteKey(), 42)
                .from(pair.a.region, 0, 128)
                .signaled());
        Bench.Done received = pair.b.next();

        assertThat(received.id()).isEqualTo(9);
        assertThat(received.opcode()).isEqualTo(CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE);
        assertThat(received.bytes()).isEqualTo(128);
        assertThat(received.immediate()).isEqualTo(42);
        assertThat(same(0, 4096, 128)).isTrue();
        assertThat(pair.b.memory.get(LONG, 0))
                .as("the receive request's own memory")
                .isZero();
    }

    @Test
    void shouldRead() {
        pair.b.fill(4);

        Bench.Done read = pair.run(request.read(pair.b.region.address() + 16, pair.b.region.remoteKey())
                .from(pair.a.region, 0, 5000)
                .signaled());

        assertThat(read.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(read.opcode()).isEqualTo(CompletionOpcode.READ);
        assertThat(same(0, 16, 5000)).isTrue();
    }

    @Test
    void shouldCompareAndSwap() {
        pair.b.memory.set(LONG, 64, 5);
        long address = pair.b.region.address() + 64;
        int key = pair.b.region.remoteKey();

        Bench.Done hit = pair.run(request.compareAndSwap(address, key, 5, -6)
                .from(pair.a.region, 0, 8)
                .signaled());
        assertThat(hit.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(hit.opcode()).isEqualTo(CompletionOpcode.COMPARE_AND_SWAP);
        assertThat(pair.a.memory.get(LONG, 0)).isEqualTo(5);
        assertThat(pair.b.memory.get(LONG, 64)).isEqualTo(-6);

        pair.run(request.compareAndSwap(address, key, 5, 7)
                .from(pair.a.region, 0, 8)
                .signaled());
        assertThat(pair.a.memory.get(LONG, 0)).isEqualTo(-6);
        assertThat(pair.b.memory.get(LONG, 64)).isEqualTo(-6);
    }

    @Test
    void shouldFetchAndAdd() {
        pair.b.memory.set(LONG, 8, Long.MAX_VALUE);
        for (int i = 0; i < 3; i++) {
            Bench.Done added = pair.run(request.fetchAndAdd(pair.b.region.address() + 8, pair.b.region.remoteKey(), 2)
                    .from(pair.a.region, 8L * i, 8)
                    .signaled());
            assertThat(added.status()).isEqualTo(CompletionStatus.SUCCESS);
            assertThat(added.opcode()).isEqualTo(CompletionOpcode.FETCH_AND_ADD);
        }
        assertThat(pair.a.memory.get(LONG, 16)).isEqualTo(Long.MAX_VALUE + 4);
        assertThat(pair.b.memory.get(LONG, 8)).isEqualTo(Long.MAX_VALUE + 6);
    }

    @Test
    void shouldGatherAndScatter() {
        pair.a.fill(5);
        pair.qb.postReceive(
                ReceiveRequest.create(2).start(1).into(pair.b.region, 0, 5).into(pair.b.region, 1000, 100));

        pair.succeed(request.send()
                .from(pair.a.region, 10, 3)
                .from(pair.a.region, 200, 4)
                .from(pair.a.region, 300, 20)
                .signaled());

        assertThat(pair.b.next().bytes()).isEqualTo(27);
        assertThat(same(10, 0, 3)).isTrue();
        assertThat(same(200, 3, 2)).isTrue();
        assertThat(same(202, 1000, 2)).isTrue();
        assertThat(same(300, 1002, 20)).isTrue();
    }

    @Test
    void shouldCopyInlineBytesWhenTheyAreGiven() {
        MemorySegment heap = MemorySegment.ofArray(new long[] {1, 2, 3, 4});
        pair.b.write(request).inline(heap, 8, 16).signaled();
        assertThat(pair.qa.postSend(request)).isTrue();
        pair.b.write(request, 64).inline(77).signaled();
        assertThat(pair.qa.postSend(request)).isTrue();

        pair.a.next(2);
        assertThat(pair.b.memory.get(LONG, 0)).isEqualTo(2);
        assertThat(pair.b.memory.get(LONG, 8)).isEqualTo(3);
        assertThat(pair.b.memory.get(LONG, 16)).isZero();
        assertThat(pair.b.memory.get(LONG, 64)).isEqualTo(77);
    }

    @Test
    void shouldKeepTheOrderOfOneQueuePair() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int last = 0;
        for (int i = 1; i <= 300; i++) {
            pair.a.memory.set(LONG, 8L * i, i);
            pair.b
                    .write(request, 8L * random.nextInt(4))
                    .from(pair.a.region, 8L * i, 8)
                    .id(i);
            if (i % 10 == 0) {
                request.signaled();
            }
            assertThat(pair.qa.postSend(request)).isTrue();
            if (i % 100 == 0) {
                for (Bench.Done done : pair.a.next(10)) {
                    assertThat(done.id()).as("seed %d", seed).isEqualTo(last + 10);
                    last += 10;
                }
            }
        }
        long newest = 0;
        for (int i = 0; i < 4; i++) {
            newest = Math.max(newest, pair.b.memory.get(LONG, 8L * i));
        }
        assertThat(newest).as("seed %d", seed).isEqualTo(300);
    }

    @Test
    void shouldPostAListOfRequestsInOrder() {
        WorkRequest[] list = new WorkRequest[5];
        for (int i = 0; i < list.length; i++) {
            list[i] = pair.b.write(WorkRequest.create(1, 8)).inline(100 + i).id(i);
        }
        list[3].signaled();

        assertThat(pair.qa.postSend(list, 4)).isEqualTo(4);

        assertThat(pair.a.next().id()).isEqualTo(3);
        assertThat(pair.b.memory.get(LONG, 0)).isEqualTo(103);
    }

    @Test
    void shouldMoveLongMessages() {
        int length = 1 << 20;
        MemorySegment from = Arena.ofAuto().allocate(length + 3L, 4096);
        MemorySegment to = Arena.ofAuto().allocate(length + 3L, 4096);
        for (long i = 0; i < length; i += 4) {
            from.set(ValueLayout.JAVA_INT, i, (int) i * 31);
        }
        MemoryRegion source = pair.a.register(from, EnumSet.allOf(Access.class));
        MemoryRegion target = pair.b.register(to, EnumSet.allOf(Access.class));
        pair.qb.postReceive(ReceiveRequest.create(1).start(1).into(target, 0, length + 3));

        pair.succeed(request.send().from(source, 0, length + 3).signaled());
        assertThat(pair.b.next().bytes()).isEqualTo(length + 3);
        assertThat(from.mismatch(to)).isEqualTo(-1);

        to.fill((byte) 0);
        pair.succeed(request.write(target.address(), target.remoteKey())
                .from(source, 0, length + 3)
                .signaled());
        assertThat(from.mismatch(to)).isEqualTo(-1);

        from.fill((byte) 0);
        pair.succeed(request.read(target.address(), target.remoteKey())
                .from(source, 0, length + 3)
                .signaled());
        assertThat(from.mismatch(to)).isEqualTo(-1);
    }

    @Test
    void shouldCompleteOnlyWhatIsSignaled() {
        for (int i = 0; i < 5; i++) {
            pair.b.write(request).inline(i).id(i);
            pair.qa.postSend(i == 4 ? request.signaled() : request);
        }
        assertThat(pair.a.next().id()).isEqualTo(4);
        assertThat(pair.a.now()).isEmpty();
    }

    @Test
    void shouldHoldAFencedRequestBackUntilReadsAreDone() {
        pair.b.memory.set(LONG, 0, 4711);
        request.read(pair.b.region.address(), pair.b.region.remoteKey()).from(pair.a.region, 0, 8);
        assertThat(pair.qa.postSend(request)).isTrue();
        pair.b.write(request, 8).from(pair.a.region, 0, 8).fenced().signaled();
        assertThat(pair.qa.postSend(request)).isTrue();

        assertThat(pair.a.next().status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(pair.b.memory.get(LONG, 8)).isEqualTo(4711);
    }

    @Test
    void shouldQueueReadsBeyondTheLimitInFlight() {
        pair.b.fill(6);
        for (int i = 0; i < 60; i++) {
            request.read(pair.b.region.address() + 100L * i, pair.b.region.remoteKey())
                    .from(pair.a.region, 100L * i, 100)
                    .id(i)
                    .signaled();
            assertThat(pair.qa.postSend(request)).isTrue();
        }
        List<Bench.Done> all = pair.a.next(60);
        for (int i = 0; i < 60; i++) {
            assertThat(all.get(i).id()).isEqualTo(i);
            assertThat(all.get(i).status()).isEqualTo(CompletionStatus.SUCCESS);
        }
        assertThat(same(0, 0, 6000)).isTrue();
    }

    @Test
    void shouldTalkToItself() throws Exception {
        QueuePair self = pair.a.queuePair(QueuePairType.RC);
        pair.a.connect(self, pair.a, self);
        pair.a.memory.set(LONG, 0, 99);

        self.postSend(pair.a.write(request, 512).from(pair.a.region, 0, 8).signaled());

        assertThat(pair.a.next().status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(pair.a.memory.get(LONG, 512)).isEqualTo(99);
    }

    private boolean same(long atA, long atB, long length) {
        return MemorySegment.mismatch(pair.a.memory, atA, atA + length, pair.b.memory, atB, atB + length) == -1;
    }
}
