package dev.rackcall.rdma;

import static dev.rackcall.rpc.contract.RpcFixture.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.WorkRequest;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.net.InetAddress;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A server whose software device has its maximum number of peers says so. */
class RdmaPlacesTest {
    private static final String SERVER = "127.0.0.2";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @AfterEach
    void restore() {
        RdmaSettings.softwareDevices(SoftOptions.local());
    }

    /** One end of a connection of queue pairs, which its device keeps a place for. */
    private static final class End implements AutoCloseable {
        private final ProtectionDomain domain;
        private final CompletionQueue completions;
        private final QueuePair queuePair;

        End(Context context) {
            domain = context.allocateProtectionDomain();
            completions = context.createCompletionQueue(CompletionQueueSpec.of(4));
            queuePair = domain.createQueuePair(QueuePairSpec.of(QueuePairType.RC, completions));
        }

        void connect(Gid peer, int number) {
            queuePair.toInit(InitAttributes.connected());
            queuePair.toReadyToReceive(ReadyToReceive.from(AddressVector.of(peer, 0), number));
            // By default it gives up after less than two seconds, for which a busy machine may stop the other device.
            queuePair.toReadyToSend(ReadyToSend.defaults().withRetries(18, 6));
        }

        void awaitConnection() {
            assertThat(queuePair.postSend(WorkRequest.create(1, 8).write(0, 0).signaled()))
                    .isTrue();
            Completions one = Completions.create(1);
            Await.until("the other end has acknowledged", () -> completions.poll(one) == 1);
            assertThat(one.isSuccess(0)).as("%s", one.status(0)).isTrue();
        }

        @Override
        public void close() {
            queuePair.close();
            completions.close();
            domain.close();
        }
    }

    @Test
    void shouldTellAClientThatTheServersDeviceIsFull() {
        RdmaSettings.softwareDevices(SoftOptions.local().withMaxPeers(1));
        RdmaDevice device = RdmaDevice.acquire(DeviceKind.BEST, InetAddress.ofLiteral(SERVER));
        RdmaSettings.softwareDevices(SoftOptions.local());
        try (Context other = SoftDevice.of("other", SoftOptions.local()).open();
                End here = new End(device.context());
                End there = new End(other);
                RpcServer server = EchoServer.at(SERVER, 1 << 20)) {
            here.connect(other.gid(1, 0), there.queuePair.number());
            there.connect(device.gid(), here.queuePair.number());
            there.awaitConnection();

            assertFails(
                            Status.Code.RESOURCE_EXHAUSTED,
                            () -> EchoServer.channelTo(Echo.class, server)
                                    .connectTimeout(TIMEOUT)
                                    .open()
                                    .close())
                    .hasMessageContainingAll("rdma://" + SERVER, "no place", "maximum number of peers", "withMaxPeers");
        } finally {
            device.release();
        }
    }
}
