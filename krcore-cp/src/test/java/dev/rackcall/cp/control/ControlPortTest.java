package dev.rackcall.cp.control;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Hosts;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Gid;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A meta server's replies to messages that no agent sends. */
class ControlPortTest {
    private static final Duration SOON = Await.BOUND;

    @RegisterExtension
    final Hosts hosts = new Hosts(4);

    private HostDevice end;

    @BeforeEach
    void open() {
        end = hosts.keep(new HostDevice(Hosts.device("raw")));
    }

    private ControlPort port() {
        ControlPort port = new ControlPort(end, "raw", (operation, sender, body) -> new byte[0], () -> {});
        port.start();
        return port;
    }

    private void refused(String part, int operation, int bytes) {
        ControlPort port = port();
        Hosts.fails(Kind.REFUSED, part, () -> port.ask(hosts.meta().address(), operation, new byte[bytes], SOON));
    }

    /** A thread may use a port that has just been closed; on hardware it would use a destroyed device. */
    @Test
    void shouldSendNothingWhenTheDeviceIsBeingClosed() {
        AtomicReference<ControlDatagrams> late = new AtomicReference<>();
        HostDevice closing = new HostDevice(Hosts.device("closing"));
        ControlMessage message = new ControlMessage(
                ControlMessage.VERSION, ControlMessage.REGISTER, 1, hosts.meta().address(), ByteBuffer.allocate(0));
        // Closed in reverse order: after this the datagrams' queues are closed.
        closing.keep(() -> late.get().send(hosts.meta().address(), message));
        late.set(new ControlDatagrams(closing));
        late.get().send(hosts.meta().address(), message);

        closing.close();
    }

    @Test
    void shouldRefuseOperationsThatDoNotExist() {
        refused("no operation 99", 99, 0);
    }

    @Test
    void shouldRefuseBodiesThatAreTooShort() {
        refused("refuses", ControlMessage.REGISTER, 3);
    }

    @Test
    void shouldRefuseAHostWithoutANumber() {
        refused("0 is not the number of a host", ControlMessage.REGISTER, 52);
        assertThat(hosts.meta().hosts()).isZero();
    }

    @Test
    void shouldTellAnAgentOfAnotherVersion() {
        ControlDatagrams raw = new ControlDatagrams(end);
        ControlMessage future = new ControlMessage(
                ControlMessage.VERSION + 1, ControlMessage.HELLO, 5, raw.address(), ByteBuffer.allocate(0));
        List<String> answers = new ArrayList<>();
        raw.send(hosts.meta().address(), future);
        Hosts.waitUntil("an answer", () -> {
            raw.receive(
                    Duration.ofMillis(10),
                    answer -> answers.add(
                            StandardCharsets.UTF_8.decode(answer.content()).toString()));
            return !answers.isEmpty();
        });
        assertThat(answers.getFirst())
                .contains("speaks version " + ControlMessage.VERSION)
                .contains("not " + (ControlMessage.VERSION + 1));
    }

    @Test
    void shouldAnswerAfterNonsense() {
        ControlDatagrams raw = new ControlDatagrams(end);
        ControlAddress nowhere = new ControlAddress(hosts.meta().address().gid(), 0xFFFFFF);
        for (int i = 0; i < 200; i++) {
            raw.send(
                    hosts.meta().address(),
                    new ControlMessage(
                            ControlMessage.VERSION, ControlMessage.ANSWER, i, nowhere, ByteBuffer.allocate(i)));
            raw.send(
                    hosts.meta().address(),
                    new ControlMessage(
                            ControlMessage.VERSION, ControlMessage.RENEW, i, nowhere, ByteBuffer.allocate(i)));
        }
        ByteBuffer hello = port().ask(hosts.meta().address(), ControlMessage.HELLO, new byte[0], SOON);
        assertThat(hello.remaining()).isEqualTo(28);
    }

    private static Gid gidAt(ServerSocket port) {
        long host = Integer.toUnsignedLong(
                ByteBuffer.wrap(port.getInetAddress().getAddress()).getInt());
        return new Gid(0xFD72L << 48 | (long) port.getLocalPort() << 32 | 1, 1L << 32 | host);
    }

    /** A reply to that address would make the meta server's device connect to it. */
    @Test
    void shouldAnswerNoDatagramThatNamesAnotherSender() throws Exception {
        ControlDatagrams raw = new ControlDatagrams(end);
        try (ServerSocket elsewhere = new ServerSocket(0, 5, InetAddress.ofLiteral("127.0.0.3"))) {
            ControlAddress there = new ControlAddress(gidAt(elsewhere), 5);
            raw.send(
                    hosts.meta().address(),
                    new ControlMessage(ControlMessage.VERSION, ControlMessage.HELLO, 1, there, ByteBuffer.allocate(0)));
            port().ask(hosts.meta().address(), ControlMessage.HELLO, new byte[0], SOON);
            try (Socket marker = new Socket(elsewhere.getInetAddress(), elsewhere.getLocalPort());
                    Socket first = elsewhere.accept()) {
                assertThat(first.getPort()).isEqualTo(marker.getLocalPort());
            }
        }
    }

    @Test
    void shouldConnectOnlyTheDeviceThatAsks() {
        HostLife self = new HostLife(HostId.named("self"), 1);
        HostLife caller = new HostLife(HostId.named("caller"), 2);
        ConnectedCallers callers =
                new ConnectedCallers(end, self, EnumSet.allOf(Access.class), spec -> spec, life -> true);
        ByteBuffer body = ByteBuffer.allocate(ConnectedCallers.QUESTION_BYTES).order(ByteOrder.nativeOrder());
        body.putLong(self.host().value()).putInt(self.epoch());
        body.putLong(caller.host().value()).putInt(caller.epoch());
        Gid other = new Gid(1, 2);
        body.putLong(other.high())
                .putLong(other.low())
                .putInt(77)
                .putInt(0)
                .putLong(5)
                .flip();
        Hosts.fails(Kind.REFUSED, "another device", () -> callers.connect(end.gid(), body));
    }
}
