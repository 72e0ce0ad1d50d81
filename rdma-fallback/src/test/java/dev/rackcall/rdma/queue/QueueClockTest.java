package dev.rackcall.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.Arrivals;
import dev.rackcall.cp.MessagePort;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.rdma.end.ForeignPeerException;
import dev.rackcall.rdma.end.Hello;
import dev.rackcall.rdma.end.PeerMemory;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.WorkRequest;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a client knows of its server's clock, which converts its deadlines. */
class QueueClockTest {
    private static final int PORT = 65006;
    private static final int BYTES = 1 << 16;
    private static final long AHEAD = TimeUnit.HOURS.toNanos(1);

    private final QueueHosts hosts = QueueHosts.open();
    private final MemoryRegion region = hosts.servers().allocate(BYTES, EnumSet.allOf(Access.class));

    @AfterEach
    void close() {
        hosts.close();
    }

    /**
     * The hello is fetched after its region was looked up; a deadline of a tenth of a second expires in the meantime.
     */
    @Test
    void shouldBeWhatTheFirstSignOfLifeSaysIfTheGreetingIsLate() throws Exception {
        try (SharedFile file = SharedFile.memfd("clock", BYTES);
                Mapping mapping = file.map();
                MessagePort port = hosts.servers().bind(PORT)) {
            port.give(region, 0, BYTES / 2, 1);
            CarrierProvider.Memory memory = new CarrierProvider.Memory(file, mapping.memory());
            URI address = URI.create("vq://" + QueueHosts.SERVER + ":" + PORT);
            ByteBuffer packet = ByteBuffer.allocate(1);
            CompletableFuture<CarrierProvider.Greeted> greeted =
                    Concurrently.start(() -> new QueueCarriers().connect(address, memory, packet, 8, Await.BOUND));
            QueueHello hello = hello(port);
            welcome(hello);
            try (Carrier client = greeted.get().carrier().orElseThrow()) {
                assertThat(client.clockAhead()).isBetween(AHEAD - TimeUnit.MINUTES.toNanos(10), AHEAD);
                // As if the first beat had been late by an hour.
                beat(hello, 2 * AHEAD);
                Await.until("it is looked at", () -> client.clockAhead() > 2 * AHEAD - TimeUnit.MINUTES.toNanos(10));
                assertThat(client.clockAhead()).isLessThanOrEqualTo(2 * AHEAD);
            }
        }
    }

    /** A later beat. */
    private void beat(QueueHello client, long ahead) {
        try (VirtualQueue queue = hosts.servers().connect(hosts.near().host())) {
            push(
                    queue,
                    WorkRequest.create(1, Long.BYTES)
                            .write(
                                    client.words().at(QueueEnd.BEAT, Long.BYTES),
                                    client.words().key())
                            .inline(System.nanoTime() + ahead));
        }
    }

    private QueueHello hello(MessagePort port) throws ForeignPeerException {
        Arrivals arrivals = Arrivals.create(1);
        Await.until("a hello", () -> port.receive(arrivals) == 1);
        ByteBuffer bytes = region.memory().asSlice(0, arrivals.bytes(0)).asByteBuffer();
        assertThat(QueueMessage.read(bytes).kind()).isEqualTo(QueueMessage.HELLO);
        return QueueHello.read(bytes);
    }

    private void welcome(QueueHello client) {
        long half = BYTES / 2;
        PeerMemory memory = new PeerMemory(region.address(), region.remoteKey(), BYTES);
        QueueHello greeting = new QueueHello(1, PORT, memory, Hello.now(memory, ByteBuffer.allocate(0)));
        greeting.write(
                new QueueMessage(QueueMessage.SERVER_HELLO, client.number(), 0),
                region.memory().asSlice(half).asByteBuffer());
        WorkRequest request = WorkRequest.create(1, Long.BYTES);
        try (VirtualQueue queue = hosts.servers().connect(hosts.near().host())) {
            push(
                    queue,
                    request.write(
                                    client.words().at(QueueEnd.BEAT, Long.BYTES),
                                    client.words().key())
                            .inline(System.nanoTime() + AHEAD));
            push(queue, request.sendWithImmediate(client.port()).from(region, half, greeting.messageBytes()));
        }
    }

    private static void push(VirtualQueue queue, WorkRequest request) {
        Completions done = Completions.create(1);
        queue.push(request.signaled());
        Await.until("it is done", () -> queue.pop(done) == 1);
        assertThat(done.isSuccess(0)).isTrue();
    }
}
