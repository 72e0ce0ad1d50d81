package dev.rackcall.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Reliable connected queue pairs with wrong keys, bounds or rights, missing receive requests, or a peer that is gone.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("dev.rackcall.verbs.ContractDevices#all")
class ReliableErrorContractTest {
    private final Device device;
    private final WorkRequest request = WorkRequest.create(1, 0);
    private Connected pair;

    ReliableErrorContractTest(Device device) {
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
    void shouldRefuseAWrongKey() {
        useAWrongKey();
    }

    private void useAWrongKey() {
        int wrong = pair.b.region.remoteKey() ^ 0x5500;
        fails(
                request.write(pair.b.region.address(), wrong).from(pair.a.region, 0, 8),
                CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void shouldRefuseARangeThatLeavesTheRegion() {
        long end = pair.b.region.address() + pair.b.region.byteSize();
        fails(
                request.write(end - 8, pair.b.region.remoteKey()).from(pair.a.region, 0, 16),
                CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void shouldRefuseARangeThatBeginsBeforeTheRegion() {
        fails(
                request.read(pair.b.region.address() - 8, pair.b.region.remoteKey())
                        .from(pair.a.region, 0, 16),
                CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void shouldRefuseARightThatTheRegionDoesNotGrant() {
        MemoryRegion readable =
                pair.b.register(pair.b.memory.asSlice(0, 4096), EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ));
        pair.succeed(request.read(readable.address(), readable.remoteKey())
                .from(pair.a.region, 0, 8)
                .signaled());
        fails(
                request.write(readable.address(), readable.remoteKey()).from(pair.a.region, 0, 8),
                CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void shouldRefuseAnAtomicWithoutTheRight() {
        MemoryRegion writable =
                pair.b.register(pair.b.memory.asSlice(0, 4096), EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE));
        fails(
                request.fetchAndAdd(writable.address(), writable.remoteKey(), 1).from(pair.a.region, 0, 8),
                CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void shouldRefuseAnUnalignedAtomic() {
        request.fetchAndAdd(pair.b.region.address() + 4, pair.b.region.remoteKey(), 1)
                .from(pair.a.region, 0, 8);
        refused(() -> pair.qa.postSend(request));
    }

    @Test
    void shouldRefuseARegionThatIsClosed() throws Exception {
        MemoryRegion gone = pair.b.register(pair.b.memory.asSlice(4096, 4096), EnumSet.allOf(Access.class));
        pair.b.drop(gone);
        fails(
                request.write(gone.address(), gone.remoteKey()).from(pair.a.region, 0, 8),
                CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void shouldRefuseARegionOfAnotherProtectionDomain() throws Exception {
        ProtectionDomain other = pair.b.keep(pair.b.context.allocateProtectionDomain());
        MemoryRegion foreign = pair.b.keep(other.register(pair.b.memory, EnumSet.allOf(Access.class)));
        fails(
                request.write(foreign.address(), foreign.remoteKey()).from(pair.a.region, 0, 8),
                CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void shouldNotHarmOtherQueuePairsOfThePeer() {
        QueuePair otherA = pair.a.queuePair(QueuePairType.RC);
        QueuePair otherB = pair.b.queuePair(QueuePairType.RC);
        pair.a.connect(otherA, pair.b, otherB);
        pair.b.connect(otherB, pair.a, otherA);

        useAWrongKey();

        otherA.postSend(pair.b.write(request).from(pair.a.region, 0, 8).signaled());
        assertThat(pair.a.next().status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(otherA.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void shouldFailBothSidesOfAMessageThatIsTooLong() {
        pair.qb.postReceive(pair.b.receive(5, 0, 100));
        // The second status of each pair is that of the kernel's software device (rxe).
        fails(
                request.send().from(pair.a.region, 0, 101),
                CompletionStatus.REMOTE_INVALID_REQUEST,
                CompletionStatus.REMOTE_OPERATION_ERROR);
        Bench.Done received = pair.b.next();
        assertThat(received.id()).isEqualTo(5);
        assertThat(received.status())
                .isIn(CompletionStatus.LOCAL_LENGTH_ERROR, CompletionStatus.LOCAL_QP_OPERATION_ERROR);
    }

    @Test
    void shouldRefuseALocalKeyThatIsWrong() {
        fails(
                pair.b.write(request).from(pair.a.region.address(), 8, pair.a.region.localKey() ^ 0x5500),
                CompletionStatus.LOCAL_PROTECTION_ERROR,
                CompletionStatus.LOCAL_QP_OPERATION_ERROR);
    }

    @Test
    void shouldRefuseToReadIntoMemoryThatIsNotWritable() {
        MemoryRegion constant = pair.a.register(pair.a.memory.asSlice(0, 4096), EnumSet.of(Access.REMOTE_READ));
        fails(
                request.read(pair.b.region.address(), pair.b.region.remoteKey()).from(constant, 0, 8),
                CompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    @Test
    void shouldFailWithoutReceiveAfterSomeTries() throws Exception {
        renew(ReadyToSend.defaults().withRnrRetries(1), InitAttributes.connected());
        fails(request.send().from(pair.a.region, 0, 8), CompletionStatus.RNR_RETRY_EXCEEDED);
    }

    @Test
    void shouldWaitForAReceiveWithoutLimit() {
        for (int i = 0; i < 3; i++) {
            assertThat(pair.qa.postSend(request.sendWithImmediate(i)
                            .from(pair.a.region, 0, 8)
                            .id(i)
                            .signaled()))
                    .isTrue();
        }
        assertThat(pair.a.now()).isEmpty();
        for (int i = 0; i < 3; i++) {
            pair.qb.postReceive(pair.b.receive(i, 0, 8));
            assertThat(pair.a.next().id()).isEqualTo(i);
            assertThat(pair.b.next().immediate()).isEqualTo(i);
        }
    }

    @Test
    void shouldFailWhenThePeerIsGone() throws Exception {
        renew(ReadyToSend.defaults().withRetries(8, 2), InitAttributes.connected());
        pair.b.drop(pair.qb);
        fails(pair.b.write(request).from(pair.a.region, 0, 8), CompletionStatus.RETRY_EXCEEDED);
    }

    @Test
    void shouldRefuseARightThatTheQueuePairDoesNotGrant() throws Exception {
        renew(ReadyToSend.defaults(), InitAttributes.connected(Set.of(Access.REMOTE_READ)));
        fails(
                pair.b.write(request).from(pair.a.region, 0, 8),
                CompletionStatus.REMOTE_ACCESS_ERROR,
                CompletionStatus.REMOTE_INVALID_REQUEST);
    }

    @Test
    void shouldRefuseMoreThanItsDepthAndFlushInOrder() {
        int posted = 0;
        while (posted < 10_000
                && pair.qa.postSend(request.send().from(pair.a.region, 0, 8).id(posted))) {
            posted++;
        }
        assertThat(posted).as("requests without a receive request").isBetween(128, 9_999);
        for (int i = 0; i < 10; i++) {
            pair.qa.postReceive(pair.a.receive(10_000 + i, 0, 8));
        }

        pair.qa.toError();

        List<Bench.Done> flushed = pair.a.next(posted + 10);
        assertThat(flushed).allSatisfy(done -> assertThat(done.status()).isEqualTo(CompletionStatus.FLUSHED));
        assertThat(flushed.stream().map(Bench.Done::id).filter(id -> id < 10_000))
                .isSorted();
        assertThat(flushed.stream().map(Bench.Done::id).filter(id -> id >= 10_000))
                .isSorted()
                .hasSize(10);
        assertThat(pair.qa.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void shouldFlushWhatIsPostedAfterAnError() {
        pair.qa.toError();
        assertThat(pair.run(request.send().from(pair.a.region, 0, 8).id(1)).status())
                .isEqualTo(CompletionStatus.FLUSHED);
        pair.qa.postReceive(pair.a.receive(2, 0, 8));
        Bench.Done received = pair.a.next();
        assertThat(received.id()).isEqualTo(2);
        assertThat(received.status()).isEqualTo(CompletionStatus.FLUSHED);
    }

    @Test
    void shouldWorkAgainAfterReset() {
        useAWrongKey();
        pair.a.now();
        pair.reconnect();

        pair.succeed(pair.b.write(request).from(pair.a.region, 0, 8).signaled());
    }

    @Test
    void shouldRefuseWhatCanNeverBePosted() {
        WorkRequest large = WorkRequest.create(8, 4096);
        refused(() -> pair.qa.postSend(large.write(0, 0).inline(pair.a.memory, 0, pair.qa.maxInline() + 1)));
        QueuePair fresh = pair.a.queuePair(QueuePairType.RC);
        refused(() -> fresh.postSend(request.send()));
        refused(() -> fresh.postReceive(pair.a.receive(0, 0, 1)));
        refused(() -> fresh.toReadyToSend(ReadyToSend.defaults()));
        refused(fresh::toError);
        fresh.toInit(InitAttributes.connected());
        assertThat(fresh.postReceive(pair.a.receive(0, 0, 1))).isTrue();
        refused(() -> fresh.postSend(request.send()));
        refused(() -> fresh.toReadyToReceive(ReadyToReceive.unconnected()));
    }

    private static void refused(Runnable misuse) {
        assertThatThrownBy(misuse::run)
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsErrno.EINVAL));
    }

    private void fails(WorkRequest bad, CompletionStatus... expected) {
        Bench.Done done = pair.run(bad.id(77));
        assertThat(done.id()).isEqualTo(77);
        assertThat(done.status()).isIn((Object[]) expected);
        Bench.waitUntil("the queue pair is in error", () -> pair.qa.state() == QueuePairState.ERROR);
    }

    private void renew(ReadyToSend patience, InitAttributes rights) throws Exception {
        pair.close();
        pair = new Connected(device, patience, rights);
    }
}
