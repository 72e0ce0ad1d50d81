package dev.rackcall.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Unreliable datagram queue pairs. */
@ParameterizedClass(name = "{0}")
@MethodSource("dev.rackcall.verbs.ContractDevices#all")
class DatagramContractTest {
    private static final int HEADER = 40;
    private static final int KEY = 0x1234567;

    private final Device device;
    private final WorkRequest request = WorkRequest.create(1, 64);
    private Bench a;
    private Bench b;
    private QueuePair qa;
    private QueuePair qb;
    private AddressHandle toB;

    DatagramContractTest(Device device) {
        this.device = device;
    }

    @BeforeEach
    void open() {
        a = new Bench(device);
        b = new Bench(device);
        qa = a.datagrams(KEY);
        qb = b.datagrams(KEY);
        toB = a.keep(a.domain.createAddressHandle(a.pathTo(b)));
    }

    @AfterEach
    void close() throws Exception {
        a.close();
        b.close();
    }

    @Test
    void shouldDeliverADatagramAfterItsHeader() {
        a.fill(1);
        qb.postReceive(b.receive(3, 128, 1000));

        qa.postSend(request.sendWithImmediate(5)
                .from(a.region, 0, 200)
                .to(toB, qb.number(), KEY)
                .id(9)
                .signaled());

        assertThat(a.next().status()).isEqualTo(CompletionStatus.SUCCESS);
        Bench.Done received = b.next();
        assertThat(received.id()).isEqualTo(3);
        assertThat(received.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(received.bytes()).isEqualTo(HEADER + 200);
        assertThat(received.source()).isEqualTo(qa.number());
        assertThat(received.immediate()).isEqualTo(5);
        assertThat(MemorySegment.mismatch(a.memory, 0, 200, b.memory, 128 + HEADER, 128 + HEADER + 200))
                .isEqualTo(-1);
    }

    @Test
    void shouldDropWhatHasTheWrongQueueKeyOrNoReceive() {
        qa.postSend(request.send().inline(1).to(toB, qb.number(), KEY).signaled());
        assertThat(a.next().status()).as("no receive request").isEqualTo(CompletionStatus.SUCCESS);

        qb.postReceive(b.receive(1, 0, 100));
        qa.postSend(request.send().inline(2).to(toB, qb.number(), KEY + 1).signaled());
        assertThat(a.next().status()).as("wrong key").isEqualTo(CompletionStatus.SUCCESS);

        qa.postSend(request.send().inline(3).to(toB, qb.number(), KEY).signaled());
        Bench.Done received = b.next();
        assertThat(received.id()).isEqualTo(1);
        long value = b.memory.get(ValueLayout.JAVA_LONG, HEADER);
        // The first datagram may arrive late, after the receive request was posted; the second must never arrive.
        assertThat(value).isIn(1L, 3L);
    }

    @Test
    void shouldServeManySenders() {
        QueuePair other = a.datagrams(KEY);
        qb.postReceive(b.receive(1, 0, 100));
        qb.postReceive(b.receive(2, 100, 100));
        qa.postSend(request.send().inline(10).to(toB, qb.number(), KEY));
        other.postSend(request.send().inline(20).to(toB, qb.number(), KEY));

        assertThat(b.next(2).stream().map(Bench.Done::source)).containsExactlyInAnyOrder(qa.number(), other.number());
    }

    @Test
    void shouldOnlySend() {
        assertThatThrownBy(() -> qa.postSend(request.write(0, 0).inline(1).to(toB, qb.number(), KEY)))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("UD");
    }

    @Test
    void shouldNeedADestination() {
        assertThatThrownBy(() -> qa.postSend(request.send().inline(1)))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("destination");
    }
}
