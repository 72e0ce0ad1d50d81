package dev.rackcall.cp.control;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.Hosts;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A meta server's replies to messages that no agent sends. */
class ControlPortTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    @RegisterExtension
    final Hosts hosts = new Hosts(4);

    private HostDevice end;

    @BeforeEach
    void open() {
        end = hosts.keep(new HostDevice(Hosts.device("raw")));
    }

    private ControlPort port() {
        ControlPort port = new ControlPort(end, "raw", (operation, body) -> new byte[0], () -> {});
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
}
