package dev.rackcall.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Dynamically connected queue pairs, on devices that have them. */
@ParameterizedClass(name = "{0}")
@MethodSource("dev.rackcall.verbs.ContractDevices#all")
class DynamicContractTest {
    private static final long KEY = 0xABCDEF0123L;

    private final Device device;
    private final WorkRequest request = WorkRequest.create(1, 64);
    private Bench a;
    private Bench b;
    private Bench c;
    private QueuePair initiator;
    private QueuePair atB;
    private QueuePair atC;
    private SharedReceiveQueue receivesB;
    private AddressHandle toB;
    private AddressHandle toC;

    DynamicContractTest(Device device) {
        this.device = device;
    }

    @BeforeEach
    void open() throws Exception {
        try (Context context = device.open()) {
            Assumptions.assumeTrue(
                    context.attributes().dynamicallyConnected(),
                    "DC NOT TESTED: " + device.name() + " has no dynamically connected queue pairs");
        }
        a = new Bench(device);
        b = new Bench(device);
        c = new Bench(device);
        initiator = a.queuePair(QueuePairType.DC_INITIATOR);
        start(initiator);
        receivesB = b.keep(b.domain.createSharedReceiveQueue(16, 1));
        atB = target(b, receivesB);
        atC = target(c, c.keep(c.domain.createSharedReceiveQueue(16, 1)));
        toB = a.keep(a.domain.createAddressHandle(a.pathTo(b)));
        toC = a.keep(a.domain.createAddressHandle(a.pathTo(c)));
    }

    private static void start(QueuePair initiator) {
        initiator.toInit(InitAttributes.connected());
        initiator.toReadyToReceive(ReadyToReceive.unconnected());
        initiator.toReadyToSend(Bench.PATIENT.withRnrRetries(2));
    }

    private static QueuePair target(Bench bench, SharedReceiveQueue shared) {
        QueuePair target = bench.queuePair(QueuePairSpec.target(bench.completions, shared, KEY));
        target.toInit(InitAttributes.connected());
        target.toReadyToReceive(ReadyToReceive.unconnected().withRnrTimer(1));
        return target;
    }

    @AfterEach
    void close() throws Exception {
        if (a != null) {
            a.close();
            b.close();
            c.close();
        }
    }

    @Test
    void shouldReachManyTargetsInOrder() {
        for (int i = 0; i < 20; i++) {
            Bench to = i % 3 == 0 ? c : b;
            to.write(request)
                    .inline(i)
                    .toTarget(to == b ? toB : toC, (to == b ? atB : atC).number(), KEY)
                    .id(i)
                    .signaled();
            assertThat(initiator.postSend(request)).isTrue();
        }
        for (int i = 0; i < 20; i++) {
            Bench.Done done = a.next();
            assertThat(done.id()).isEqualTo(i);
            assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
        }
        assertThat(b.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(19);
        assertThat(c.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(18);
    }

    @Test
    void shouldDeliverMessagesAndReadAndAdd() {
        b.memory.set(ValueLayout.JAVA_LONG, 8, 40);
        receivesB.post(b.receive(5, 1024, 100));
        initiator.postSend(request.sendWithImmediate(6).inline(7).toTarget(toB, atB.number(), KEY));
        initiator.postSend(request.fetchAndAdd(b.region.address() + 8, b.region.remoteKey(), 2)
                .from(a.region, 0, 8)
                .toTarget(toB, atB.number(), KEY));
        initiator.postSend(request.read(b.region.address() + 8, b.region.remoteKey())
                .from(a.region, 8, 8)
                .toTarget(toB, atB.number(), KEY)
                .signaled());

        assertThat(a.next().status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(b.next().immediate()).isEqualTo(6);
        assertThat(b.memory.get(ValueLayout.JAVA_LONG, 1024)).isEqualTo(7);
        assertThat(a.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(40);
        assertThat(a.memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(42);
    }

    @Test
    void shouldRefuseAWrongTargetKeyAndServeOthers() {
        QueuePair other = a.queuePair(QueuePairType.DC_INITIATOR);
        start(other);
        b.write(request).inline(1).signaled();

        initiator.postSend(request.toTarget(toB, atB.number(), KEY + 1));
        assertThat(a.next().status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(initiator.state()).isEqualTo(QueuePairState.ERROR);

        other.postSend(request.toTarget(toB, atB.number(), KEY));
        assertThat(a.next().status()).isEqualTo(CompletionStatus.SUCCESS);
    }

    @Test
    void shouldFailWithoutReceivesAndRecover() {
        initiator.postSend(
                request.send().inline(1).toTarget(toB, atB.number(), KEY).signaled());
        assertThat(a.next().status()).isEqualTo(CompletionStatus.RNR_RETRY_EXCEEDED);

        initiator.toReset();
        start(initiator);
        receivesB.post(b.receive(5, 0, 100));
        initiator.postSend(
                request.send().inline(2).toTarget(toB, atB.number(), KEY).signaled());
        assertThat(a.next().status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(b.next().id()).isEqualTo(5);
    }
}
