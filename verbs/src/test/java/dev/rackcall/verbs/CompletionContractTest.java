package dev.rackcall.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Completion queues and channels, shared receive queues, asynchronous events, and the order of closing. */
@ParameterizedClass(name = "{0}")
@MethodSource("dev.rackcall.verbs.ContractDevices#all")
class CompletionContractTest {
    private static final Duration LONG = Await.BOUND;

    private final Device device;
    private final WorkRequest request = WorkRequest.create(1, 64);

    CompletionContractTest(Device device) {
        this.device = device;
    }

    @Test
    void shouldNotifyOfACompletion() throws Exception {
        try (Bench b = new Bench(device);
                Bench a = new Bench(device)) {
            CompletionChannel channel = b.keep(b.context.createCompletionChannel());
            CompletionQueue announced = b.keep(
                    b.context.createCompletionQueue(CompletionQueueSpec.of(16).on(channel)));
            QueuePair qa = a.queuePair(QueuePairType.RC);
            QueuePair qb = b.queuePair(
                    QueuePairSpec.of(QueuePairType.RC, b.completions).withReceiveQueue(announced));
            a.connect(qa, b, qb);
            b.connect(qb, a, qa);
            qb.postReceive(b.receive(1, 0, 64));
            qb.postReceive(b.receive(2, 0, 64));
            qb.postReceive(b.receive(3, 0, 64));

            announced.requestNotification(false);
            assertThat(channel.await(Duration.ofMillis(20))).isEmpty();
            qa.postSend(request.send().inline(1));
            assertThat(channel.await(LONG)).isEqualTo(Optional.of(announced));
            assertThat(b.next(announced).id()).isEqualTo(1);

            announced.requestNotification(true);
            qa.postSend(request.send().inline(1));
            assertThat(b.next(announced).id()).isEqualTo(2);
            assertThat(channel.await(Duration.ofMillis(20))).as("not solicited").isEmpty();
            qa.postSend(request.send().inline(1).solicited());
            assertThat(channel.await(LONG)).isEqualTo(Optional.of(announced));
            assertThat(b.next(announced).id()).isEqualTo(3);
            b.drop(qb);
        }
    }

    /** The notifications of a closed queue are dropped, perhaps just before another thread reads them. */
    @Test
    void shouldNotWaitForNotificationsOfAClosedQueue() throws Exception {
        try (Bench a = new Bench(device)) {
            CompletionChannel channel = a.keep(a.context.createCompletionChannel());
            AtomicBoolean ended = new AtomicBoolean();
            Thread listener = Thread.ofPlatform().daemon().start(() -> {
                while (!ended.get()) {
                    channel.await(Duration.ofMillis(5));
                }
            });
            for (int i = 0; i < 50; i++) {
                CompletionQueue brief = a.keep(a.context.createCompletionQueue(
                        CompletionQueueSpec.of(4).on(channel)));
                QueuePair self = a.queuePair(QueuePairSpec.of(QueuePairType.RC, brief));
                a.connect(self, a, self);
                brief.requestNotification(false);
                self.postSend(a.write(request).inline(i).signaled());
                a.drop(self);
                a.drop(brief);
            }
            ended.set(true);
            assertThat(listener.join(LONG)).as("the listener has ended").isTrue();
        }
    }

    @Test
    void shouldRefuseNotificationsWithoutAChannel() throws Exception {
        try (Bench a = new Bench(device)) {
            assertThatThrownBy(() -> a.completions.requestNotification(false)).isInstanceOf(VerbsException.class);
        }
    }

    @Test
    void shouldRaiseAnEventWhenItOverflows() throws Exception {
        try (Bench a = new Bench(device, CompletionQueueSpec.of(4))) {
            int capacity = a.completions.capacity();
            assertThat(capacity).isGreaterThanOrEqualTo(4);
            QueuePair self = a.queuePair(
                    QueuePairSpec.of(QueuePairType.RC, a.completions).withDepth(capacity + 8, 1));
            a.connect(self, a, self);
            for (int i = 0; i < capacity + 1; i++) {
                assertThat(self.postSend(a.write(request).inline(i).id(i).signaled()))
                        .isTrue();
            }

            Optional<AsyncEvent> event = a.context.awaitEvent(LONG);
            while (event.isPresent() && event.get().type() != AsyncEvent.Type.CQ_ERROR) {
                event = a.context.awaitEvent(LONG);
            }
            assertThat(event).isPresent();
        }
    }

    @Test
    void shouldShareReceives() throws Exception {
        try (Bench b = new Bench(device);
                Bench a = new Bench(device)) {
            SharedReceiveQueue shared = b.keep(b.domain.createSharedReceiveQueue(16, 1));
            QueuePair[] senders = new QueuePair[2];
            for (int i = 0; i < 2; i++) {
                senders[i] = a.queuePair(QueuePairType.RC);
                QueuePair receiver = b.queuePair(
                        QueuePairSpec.of(QueuePairType.RC, b.completions).withShared(shared));
                a.connect(senders[i], b, receiver);
                b.connect(receiver, a, senders[i]);
                assertThatThrownBy(() -> receiver.postReceive(b.receive(0, 0, 1)))
                        .isInstanceOf(VerbsException.class);
            }
            assertThat(shared.post(b.receive(1, 0, 64))).isTrue();
            assertThat(shared.post(b.receive(2, 64, 64))).isTrue();

            senders[1].postSend(request.sendWithImmediate(11).inline(1));
            assertThat(b.next().immediate()).isEqualTo(11);
            senders[0].postSend(request.sendWithImmediate(10).inline(1));
            Bench.Done second = b.next();
            assertThat(second.immediate()).isEqualTo(10);
            assertThat(second.id()).isEqualTo(2);
        }
    }

    @Test
    void shouldNotCloseWhatIsInUse() throws Exception {
        try (Bench a = new Bench(device)) {
            QueuePair queuePair = a.queuePair(QueuePairType.RC);
            busy(a.completions::close);
            busy(a.domain::close);
            a.drop(queuePair);
            busy(a.domain::close);
        }
    }

    private static void busy(Runnable close) {
        assertThatThrownBy(close::run)
                .isInstanceOfSatisfying(
                        VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsErrno.EBUSY));
    }

    @Test
    void shouldRefuseRemoteRightsWithoutLocalWriting() throws Exception {
        try (Bench a = new Bench(device)) {
            assertThatThrownBy(() -> a.register(a.memory, EnumSet.of(Access.REMOTE_WRITE)))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("REMOTE_WRITE");
        }
    }

    @Test
    void shouldDescribeItself() throws Exception {
        try (Bench a = new Bench(device)) {
            DeviceAttributes attributes = a.context.attributes();
            assertThat(attributes.ports()).isPositive();
            assertThat(attributes.maxQueuePairs()).isPositive();
            assertThat(attributes.maxSegments()).isGreaterThanOrEqualTo(3);
            PortAttributes port = a.context.port(1);
            assertThat(port.state()).isEqualTo(PortState.ACTIVE);
            assertThat(port.maxMessageBytes()).isGreaterThanOrEqualTo(1 << 20);
            assertThat(a.gid()).isNotEqualTo(Gid.NONE);
            assertThatThrownBy(() -> a.context.port(9)).isInstanceOf(VerbsException.class);
            assertThat(Gid.parse(a.gid().toString())).isEqualTo(a.gid());
        }
    }
}
