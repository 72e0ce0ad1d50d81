package dev.rackcall.rdma.queue;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.MessagePort;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.rdma.EchoServer;
import dev.rackcall.rdma.OneReception;
import dev.rackcall.rdma.RdmaSettings;
import dev.rackcall.rdma.end.Hello;
import dev.rackcall.rdma.end.PeerMemory;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.WorkRequest;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Broken, hostile and missing peers. Each gets, or causes, a clear error, and no other peer is affected. */
class QueueBadInputTest extends RpcFixture {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    /** For a test that waits for its end. What comes before needs much less, also on a machine that stops for a moment. */
    private static final Duration SHORT = Duration.ofSeconds(3);

    /** Where strangers claim to receive messages. */
    private static final int SILENT_PORT = 70_000;

    private final QueueHosts hosts = keep(QueueHosts.open());
    /** Another tenant at the clients' host. */
    private final Tenant stranger = keep(hosts.near().admit("stranger"));

    private RpcServer server;

    @BeforeEach
    void serve() {
        server = serveAt(hosts.anyPort());
    }

    private RpcServer serveAt(URI address) {
        return serve(serving(Echo.class, new EchoService()).listen(address));
    }

    private static RpcChannel channel(URI address, Duration connectTimeout) {
        return EchoServer.channelTo(Echo.class, address)
                .connectTimeout(connectTimeout)
                .open();
    }

    private RpcChannel channel() {
        return channel(server.address().orElseThrow(), TIMEOUT);
    }

    private static Echo echo(RpcChannel channel) {
        return channel.stub(Echo.class, within(TIMEOUT));
    }

    private static RpcException refused(String address) {
        return catchThrowableOfType(RpcException.class, () -> channel(URI.create(address), TIMEOUT));
    }

    private void assertServes() {
        try (RpcChannel channel = channel()) {
            assertThat(echo(channel).add(1, 2)).isEqualTo(3);
        }
    }

    private int port() {
        return server.address().orElseThrow().getPort();
    }

    // ---- what a client meets

    @Test
    void shouldRefuseAddressesThatNameNoPlace() {
        assertThat(refused("vq://server")).hasMessageContainingAll("INVALID_ARGUMENT", "vq://host:port");
    }

    @Test
    void shouldSayThatAHostOrAPortIsNotThere() {
        assertThat(refused("vq://nowhere:7")).hasMessageContainingAll("UNAVAILABLE", "vq://nowhere:7", "agent");
        assertThat(refused("vq://server:65001"))
                .hasMessageContainingAll("UNAVAILABLE", "no server is listening at", "vq://server:65001");
    }

    @Test
    void shouldSayThatThereIsNoTenant() {
        QueueSettings.forget(hosts.clients());
        assertThat(refused(server.address().orElseThrow().toString()))
                .hasMessageContainingAll("UNAVAILABLE", "QueueSettings");
    }

    @Test
    void shouldRefuseToListenAtATakenPort() {
        assertFails(Status.Code.FAILED_PRECONDITION, another(server.address().orElseThrow())::start)
                .hasMessageContainingAll("cannot listen", "bound");
    }

    @Test
    void shouldRefuseToListenInTheNameOfAnotherHost() {
        assertFails(Status.Code.FAILED_PRECONDITION, another(URI.create("vq://elsewhere:0"))::start)
                .hasMessageContainingAll("cannot listen at vq://elsewhere:0", "that of another host", "--host");
    }

    private RpcServer.Builder another(URI address) {
        return serving(Echo.class, new EchoService())
                .runtimeFolder(directory.resolve("another"))
                .listen(address);
    }

    @Test
    void shouldNotWaitLongerThanToldForASilentPeer() {
        assertServes();
        MemoryRegion memory = hosts.servers().allocate(8192, EnumSet.of(Access.LOCAL_WRITE));
        try (MessagePort silent = hosts.servers().bind(65002)) {
            silent.give(memory, 0, 8192, 1);
            assertFails(Status.Code.UNAVAILABLE, () -> channel(URI.create("vq://server:65002"), SHORT))
                    .hasMessageContaining("did not answer");
        }
    }

    @Test
    void shouldSayThatTheServersTenantMayHaveNoMoreQueues() {
        List<VirtualQueue> all = new ArrayList<>();
        int most = 4096;
        for (int i = 1; i < most; i++) {
            all.add(hosts.servers().connect(hosts.near().host()));
        }
        assertThat(refused(server.address().orElseThrow().toString()))
                .hasMessageContainingAll("RESOURCE_EXHAUSTED", "at the server", "virtual queues");
        all.forEach(VirtualQueue::close);
        assertServes();
    }

    /** Not even a region for the refusal is left. */
    @Test
    void shouldSayThatTheServerTurnsItAwayThatHasNoMoreRegions() {
        List<MemoryRegion> all = allRegions(hosts.servers());
        assertThat(refused(server.address().orElseThrow().toString()))
                .hasMessageContainingAll(
                        "RESOURCE_EXHAUSTED",
                        "rejected this client",
                        "its tenant of the control plane has as many memory regions",
                        "AgentOptions.withQuota");
        all.forEach(MemoryRegion::close);
        assertServes();
    }

    /** A connection registers more memory when it first sends more than fits into a slot. */
    @Test
    void shouldSayThatItEndsSinceThisTenantHasNoMoreRegions() {
        try (RpcChannel channel = channel()) {
            Echo echo = echo(channel);
            assertThat(echo.add(1, 2)).isEqualTo(3);
            List<MemoryRegion> all = allRegions(hosts.clients());
            assertFails(Status.Code.UNAVAILABLE, () -> echo.bytes(new byte[100_000]))
                    .hasMessageContainingAll(
                            "its connection has ended: tenant clients has 1024 memory regions and may have no more",
                            "AgentOptions.withQuota");
            all.forEach(MemoryRegion::close);
            assertThat(echo.bytes(new byte[100_000])).hasSize(100_000);
        }
    }

    /** The same at the other end. */
    @Test
    void shouldSayThatItEndsSinceTheServersTenantHasNoMoreRegions() {
        try (RpcChannel channel = channel()) {
            Echo echo = echo(channel);
            for (int i = 0; i < 200; i++) {
                echo.note("something that makes the list of all of them long, " + i);
            }
            assertThat(echo.add(1, 2)).isEqualTo(3);
            List<MemoryRegion> all = allRegions(hosts.servers());
            assertFails(Status.Code.UNAVAILABLE, echo::notes)
                    .hasMessageContainingAll(
                            "its connection has ended: the peer has ended it: its tenant of the control plane has as many memory regions",
                            "AgentOptions.withQuota");
            all.forEach(MemoryRegion::close);
            assertThat(echo.notes()).hasSize(200);
        }
    }

    /** As many as a tenant may have. */
    private static List<MemoryRegion> allRegions(Tenant tenant) {
        List<MemoryRegion> all = new ArrayList<>();
        assertThrown(ControlPlaneException.class, () -> {
            while (true) {
                all.add(tenant.allocate(64, EnumSet.of(Access.LOCAL_WRITE)));
            }
        });
        return all;
    }

    /** More hellos at once than the server handles at a time. */
    @Test
    void shouldLetACrowdWaitForItsTurn() throws Exception {
        int crowd = 80;
        CountDownLatch open = new CountDownLatch(1);
        QueueCarriers provider = new QueueCarriers();
        try (SharedFile file = SharedFile.memfd("crowd", 1 << 16);
                Mapping mapping = file.map();
                CarrierProvider.Listener listener =
                        provider.listen(URI.create("vq://server:65004"), new OneReception(hello -> refusalOnce(open)));
                ExecutorService guests = Executors.newVirtualThreadPerTaskExecutor()) {
            CarrierProvider.Memory memory = new CarrierProvider.Memory(file, mapping.memory());
            List<Future<CarrierProvider.Greeted>> greeted = new ArrayList<>();
            for (int i = 0; i < crowd; i++) {
                greeted.add(guests.submit(() ->
                        provider.connect(listener.address(), memory, ByteBuffer.wrap(new byte[] {1, 2}), 8, TIMEOUT)));
            }
            Await.equal(
                    "guests", crowd, () -> QueueHub.carriersOf(hosts.clients()).size());
            open.countDown();
            for (Future<CarrierProvider.Greeted> each : greeted) {
                assertThat(each.get().welcome().get(0)).isEqualTo((byte) 7);
            }
        }
    }

    /** Clients whose processes take no messages. The server waits for each for a long time, unless others come. */
    @Test
    void shouldServeANewClientWhileSlowOnesOccupyAllPlaces() {
        Duration before = RdmaSettings.helloTimeout();
        RdmaSettings.helloTimeout(Duration.ofHours(1));
        ByteBuffer packet = honestHello();
        try (MessagePort silent = stranger.bind(SILENT_PORT)) {
            assertThat(silent.number()).isEqualTo(SILENT_PORT);
            for (int i = 0; i < QueueGuests.MOST; i++) {
                ByteBuffer hello = ByteBuffer.allocate(QueueHello.MAX_BYTES);
                hello(77, 64 << 20, packet).write(new QueueMessage(QueueMessage.HELLO, 0, 0), hello);
                say(port(), hello.flip());
            }
            assertServes();
        } finally {
            RdmaSettings.helloTimeout(before);
        }
    }

    private static CarrierProvider.Answer refusalOnce(CountDownLatch open) {
        Await.latch(open);
        return new CarrierProvider.Answer(ByteBuffer.wrap(new byte[] {7}), Optional.empty());
    }

    // ---- what a server meets

    private void say(int port, ByteBuffer bytes) {
        MemoryRegion region =
                stranger.allocate(Math.max(1, bytes.remaining()), EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ));
        try (VirtualQueue queue = stranger.connect(hosts.far().host())) {
            int length = bytes.remaining();
            region.memory().asByteBuffer().put(bytes);
            assertThat(queue.push(WorkRequest.create(1, 0)
                            .sendWithImmediate(port)
                            .from(region, 0, length)
                            .signaled()))
                    .isTrue();
            Completions done = Completions.create(1);
            Await.until("the message is taken", () -> queue.pop(done) == 1);
            assertThat(done.isSuccess(0)).isTrue();
        } finally {
            region.close();
        }
    }

    private static QueueHello hello(int key, long bytes, ByteBuffer packet) {
        PeerMemory words = new PeerMemory(8192, key, QueueHello.WORDS_BYTES);
        return new QueueHello(5, SILENT_PORT, words, new Hello(new PeerMemory(4096, key, bytes), 0, packet));
    }

    private static ByteBuffer hello(int key, long bytes, int packetBytes, int claimed) {
        ByteBuffer packet = ByteBuffer.allocate(packetBytes);
        ByteBuffer message = ByteBuffer.allocate(QueueHello.FIXED_BYTES + packetBytes);
        hello(key, bytes, packet).write(new QueueMessage(QueueMessage.HELLO, 0, 0), message);
        // Where the length of the packet is.
        message.putInt(QueueHello.FIXED_BYTES - Integer.BYTES, claimed);
        return message.flip();
    }

    @Test
    void shouldTurnStrangersAwayAndServeOthers() {
        try (RpcChannel channel = channel()) {
            Echo echo = echo(channel);
            assertThat(echo.add(1, 2)).isEqualTo(3);
            Random random = new Random(3);
            byte[] noise = new byte[3000];
            for (int length : new int[] {0, 1, 23, 24, 100, 3000}) {
                random.nextBytes(noise);
                say(port(), ByteBuffer.wrap(noise, 0, length).slice());
            }
            sayHeaders(port(), 1, 7);
            for (int claimed : new int[] {99, 101, -1, Integer.MAX_VALUE}) {
                say(port(), hello(1, 1 << 20, 100, claimed));
            }
            say(port(), hello(1, 0, 100, 100));
            say(port(), hello(1, Long.MAX_VALUE, 100, 100));
            assertThat(echo.add(3, 4)).isEqualTo(7);
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    /** A client that names memory which it does not have keeps its place only until the server has checked. */
    @Test
    void shouldRejectAClientWhoseMemoryCannotBeWritten() {
        ByteBuffer packet = ByteBuffer.allocate(QueueHello.MAX_BYTES);
        try (RpcChannel channel = channel()) {
            Echo echo = echo(channel);
            ByteBuffer hello = honestHello();
            hello(77, 64 << 20, hello).write(new QueueMessage(QueueMessage.HELLO, 0, 0), packet);
            say(port(), packet.flip());
            assertThat(echo.add(3, 4)).isEqualTo(7);
            Await.equal("connections", 1, server::connections);
        }
        Await.equal("connections", 0, server::connections);
    }

    /** The packet of the shared-memory handshake, overheard. */
    private ByteBuffer honestHello() {
        ByteBuffer[] heard = new ByteBuffer[1];
        QueueCarriers provider = new QueueCarriers();
        URI address = URI.create("vq://server:65003");
        try (var listener = provider.listen(address, new OneReception(hello -> {
            heard[0] = ByteBuffer.allocate(hello.remaining()).put(hello).flip();
            throw new IllegalStateException("overheard");
        }))) {
            assertThatThrownBy(() -> channel(listener.address(), TIMEOUT))
                    .hasMessageContainingAll("UNAVAILABLE", "rejected this client");
        }
        return heard[0];
    }

    /** Messages for a former connection, or for none. */
    @Test
    void shouldDropMessagesForNoConnection() {
        try (RpcChannel channel = channel()) {
            Echo echo = echo(channel);
            assertThat(echo.add(1, 2)).isEqualTo(3);
            int inbox = QueueHub.carriersOf(hosts.servers()).getFirst().port();
            sayHeaders(inbox, 2, 6);
            assertThat(echo.add(3, 4)).isEqualTo(7);
        }
    }

    /** Sends messages of these kinds for connections that do not exist. */
    private void sayHeaders(int port, int firstKind, int lastKind) {
        Random random = new Random(4);
        for (int kind = firstKind; kind <= lastKind; kind++) {
            ByteBuffer header = ByteBuffer.allocate(QueueMessage.BYTES);
            new QueueMessage(kind, random.nextLong(), 1).write(header);
            say(port, header.flip());
        }
    }

    // ---- what is closed under a connection

    @Test
    void shouldEndCallsWhenTheTenantIsClosedUnderThem() {
        try (RpcChannel channel = channel()) {
            Echo echo = echo(channel);
            assertThat(echo.add(1, 2)).isEqualTo(3);
            hosts.clients().close();
            assertFails(Status.Code.UNAVAILABLE, () -> echo.add(1, 2));
        }
        Await.equal("connections", 0, server::connections);
    }

    @Test
    void shouldEndCallsWhenTheServersTenantIsClosed() {
        try (RpcChannel channel = channel()) {
            Echo echo = echo(channel);
            assertThat(echo.add(1, 2)).isEqualTo(3);
            hosts.servers().close();
            Await.until("the connection has ended", () -> codeOf(() -> echo.add(1, 2)) != Status.Code.OK);
        }
    }
}
