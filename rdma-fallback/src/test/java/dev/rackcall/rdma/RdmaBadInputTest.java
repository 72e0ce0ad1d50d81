package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rdma.end.ForeignPeerException;
import dev.rackcall.rdma.end.Hello;
import dev.rackcall.rdma.end.PeerMemory;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import dev.rackcall.verbs.Gid;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Broken, hostile and foreign peers. Each gets, or causes, a clear error, and no other peer is affected. */
class RdmaBadInputTest extends RpcFixture {
    private static final long QUOTA = 1 << 20;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    /**
     * For tests that wait for its end. The steps before the one that has to fail need much less, also on a machine that
     * stops for a moment.
     */
    private static final Duration SHORT = Duration.ofSeconds(3);

    private static RpcChannel.Builder builder(URI address, Duration connectTimeout) {
        return EchoServer.channelTo(Echo.class, address).connectTimeout(connectTimeout);
    }

    private RpcChannel channel(RpcServer server) {
        return open(builder(server.address().orElseThrow(), TIMEOUT));
    }

    private RpcServer serve() {
        return serve(QUOTA);
    }

    private RpcServer serve(long quota) {
        return keep(EchoServer.at("127.0.0.1", quota));
    }

    /** Opens the device and loads all code, which on a busy machine takes longer than {@link #SHORT}. */
    private void assertServes(RpcServer server) {
        assertThat(echo(channel(server)).add(1, 1)).isEqualTo(2);
    }

    private static Echo echo(RpcChannel channel) {
        return channel.stub(Echo.class, within(TIMEOUT));
    }

    private static RpcException refused(URI address) {
        return catchThrowableOfType(RpcException.class, builder(address, TIMEOUT)::open);
    }

    private static URI address(ServerSocket port) {
        return URI.create("rdma://127.0.0.1:" + port.getLocalPort());
    }

    private static PairHello hello(Gid gid, int queuePair, ByteBuffer packet) {
        return new PairHello(gid, queuePair, 1, Hello.now(new PeerMemory(4096, 1, QUOTA), packet));
    }

    // ---- what a client meets

    @Test
    void shouldNotBlameTheServerWhereOpeningTheDeviceTakesAllTheTime() throws IOException {
        try (ServerSocket nobody = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertFails(Status.Code.UNAVAILABLE, builder(address(nobody), Duration.ofNanos(1))::open)
                    .hasMessageContaining("opened only after the time limit of PT0.000000001S");
        }
    }

    @Test
    void shouldRefuseAddressesThatNameNoPlace() {
        assertThat(refused(URI.create("rdma://127.0.0.1")))
                .hasMessageContainingAll("INVALID_ARGUMENT", "rdma://host:port");
        assertThat(refused(URI.create("carrier-pigeon://roof:1")))
                .hasMessageContainingAll("INVALID_ARGUMENT", "carrier-pigeon");
    }

    @Test
    void shouldNotWaitLongerThanToldForASilentPeer() throws IOException {
        assertServes(serve());
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertFails(Status.Code.UNAVAILABLE, builder(address(silent), SHORT)::open)
                    .hasMessageContainingAll(address(silent).toString(), "did not answer");
        }
    }

    @Test
    void shouldSayThatAForeignServerListensThere() throws IOException {
        byte[] answer = "HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        try (FakePeer peer = FakePeer.start((client, out) -> out.write(answer))) {
            assertThat(refused(peer.address())).hasMessageContainingAll("FAILED_PRECONDITION", "does not speak");
        }
    }

    @Test
    void shouldRefuseAGreetingThatEndsEarly() throws IOException {
        try (FakePeer peer = FakePeer.start((client, out) -> {
            ByteArrayOutputStream frame = new ByteArrayOutputStream();
            client.write(frame);
            out.write(frame.toByteArray(), 0, frame.size() - 1);
        })) {
            assertThat(refused(peer.address())).hasMessageContainingAll("FAILED_PRECONDITION", "ends after");
        }
        try (FakePeer peer = FakePeer.start((client, out) -> {})) {
            assertThat(refused(peer.address()).code()).isIn(Status.Code.FAILED_PRECONDITION, Status.Code.UNAVAILABLE);
        }
    }

    /** A server does so if it has too many guests, or if the client takes too long. */
    @Test
    void shouldComeAgainToAServerThatHangsUp() throws IOException {
        URI address = serve().address().orElseThrow();
        try (Turnstile door = Turnstile.before(address, 3);
                RpcChannel channel = builder(door.address(), TIMEOUT).open()) {
            assertThat(echo(channel).add(1, 1)).isEqualTo(2);
            assertThat(door.turnedAway()).isEqualTo(3);
        }
        try (Turnstile door = Turnstile.before(address, Integer.MAX_VALUE)) {
            assertThat(refused(door.address())).hasMessageContainingAll("UNAVAILABLE", "hangs up", "its log says why");
            assertThat(door.turnedAway()).isBetween(2, 10);
        }
    }

    /** Otherwise its thread would wait for the proof in a place that belongs to a newer client. */
    @Test
    void shouldStopWaitingForAProofWhenAClientHasLostItsPlace() throws Exception {
        try (ServerSocket port = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()) {
                    @Override
                    public Socket accept() throws IOException {
                        Socket evicted = new EvictedWhenReady();
                        implAccept(evicted);
                        return evicted;
                    }
                };
                RawClient client = RawClient.dial(URI.create("rdma://127.0.0.1:" + port.getLocalPort()));
                Socket socket = port.accept()) {
            CompletableFuture<Void> said = Concurrently.start(() -> {
                client.knock(RawClient.hello(RawClient.PROTOCOL, RawClient.LAYOUT, "/test/echo", QUOTA));
                client.say();
                return null;
            });
            PairHandshake handshake = PairHandshake.over(socket, DeviceKind.BEST, TIMEOUT);
            PairHello hello = handshake.readHello();
            PairEnd end = handshake.end(8);
            try {
                assertThatThrownBy(() -> handshake.invite(end, hello))
                        .isInstanceOf(EOFException.class)
                        .hasMessageContaining("given to a newer client");
            } finally {
                end.discard();
            }
            Concurrently.get(said);
        }
    }

    /** A client's connection that seems to be closed as soon as the client has said that it is ready. */
    private static final class EvictedWhenReady extends Socket {
        private volatile boolean ready;

        @Override
        public InputStream getInputStream() throws IOException {
            return new FilterInputStream(super.getInputStream()) {
                @Override
                public int read() throws IOException {
                    int said = super.read();
                    ready = said == 1;
                    return said;
                }

                @Override
                public int read(byte[] bytes, int from, int length) throws IOException {
                    return super.read(bytes, from, length);
                }
            };
        }

        @Override
        public boolean isClosed() {
            return ready || super.isClosed();
        }
    }

    @Test
    void shouldNotCountItsOwnWorkAsThePeersSlowness() throws Exception {
        try (ServerSocket port = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket client = new Socket(port.getInetAddress(), port.getLocalPort());
                Socket socket = port.accept()) {
            // Longer than a busy host keeps this thread from its processor while it reads.
            Duration patience = Duration.ofSeconds(1);
            PairHandshake meeting = PairHandshake.over(socket, DeviceKind.BEST, patience);
            PairHello greeting = hello(Gid.NONE, 1, ByteBuffer.allocate(8));
            greeting.write(client.getOutputStream());
            assertThat(meeting.readHello().hello().memory().bytes()).isEqualTo(QUOTA);
            // Stands for opening a device on a busy machine.
            LockSupport.parkNanos(3 * patience.toNanos());
            greeting.write(client.getOutputStream());
            assertThat(meeting.readHello().hello().memory().bytes()).isEqualTo(QUOTA);
        }
    }

    @Test
    void shouldRefuseAServerOfAnotherVersion() throws IOException {
        byte[] packet = RawClient.hello(RawClient.PROTOCOL + 1, RawClient.LAYOUT, "/test/echo", QUOTA);
        try (FakePeer peer =
                FakePeer.start((client, out) -> FakePeer.refusal(packet).write(out))) {
            assertThat(refused(peer.address()))
                    .hasMessageContainingAll("FAILED_PRECONDITION", "protocol version 2", "same release");
        }
    }

    @Test
    void shouldRefuseAServerWhoseQueuePairIsNotThere() throws IOException {
        try (FakePeer peer = FakePeer.start((client, out) ->
                hello(client.gid(), 0xabcdef, client.hello().packet()).write(out))) {
            assertThat(refused(peer.address()).code()).isIn(Status.Code.FAILED_PRECONDITION, Status.Code.UNAVAILABLE);
        }
        Await.equal("devices that are open", 0, RdmaDevice::open);
    }

    /** Two ends that are connected over TCP need not reach each other's device. */
    @Test
    void shouldSayThatTheServersDeviceAcknowledgesNothing() throws Exception {
        Semaphore told = new Semaphore(0);
        RpcServer server = serve();
        assertServes(server);
        try (FakePeer peer = FakePeer.start((client, out) -> {
            hello(client.gid(), 0xabcdef, client.hello().packet()).write(out);
            out.write(1);
            told.acquireUninterruptibly();
        })) {
            assertFails(Status.Code.UNAVAILABLE, builder(peer.address(), SHORT)::open)
                    .hasMessageContainingAll(peer.address() + " answers", "acknowledges nothing", "127.0.0.1", "TLS");
        } finally {
            told.release();
        }
        closeAll();
        Await.equal("devices that are open", 0, RdmaDevice::open);
    }

    @Test
    void shouldSayThatAMirrorDoesNotFitIntoMemory() {
        RpcServer server = serve();
        RpcChannel.Builder large =
                builder(server.address().orElseThrow(), TIMEOUT).arenaQuota(1L << 39);
        assertFails(Status.Code.RESOURCE_EXHAUSTED, large::open).hasMessageContaining("smaller arenaQuota");
        assertServes(server);
    }

    // ---- what a server meets

    private static byte[] answer(URI address, byte[] hello) throws IOException, ForeignPeerException {
        try (RawClient client = RawClient.dial(address)) {
            return client.greet(hello);
        }
    }

    private static String text(byte[] packet) {
        return new String(packet, StandardCharsets.UTF_8);
    }

    @Test
    void shouldTellClientsOfAnotherVersionOrLayoutAndThoseThatWantTooMuch() throws Exception {
        RpcServer server = serve(1L << 39);
        URI address = server.address().orElseThrow();
        String echo = "/test/echo";
        assertThat(text(answer(address, RawClient.hello(2, RawClient.LAYOUT, echo, QUOTA))))
                .contains("protocol version 2", "same release");
        assertThat(text(answer(address, RawClient.hello(RawClient.PROTOCOL, 77, echo, QUOTA))))
                .contains("layout", "77");
        assertThat(text(answer(address, RawClient.hello(1, RawClient.LAYOUT, "/no/such", QUOTA))))
                .contains("no channel /no/such", echo);
        assertThat(text(answer(address, RawClient.hello(1, RawClient.LAYOUT, echo, 1L << 38))))
                .contains("no memory", "smaller arenaQuota");
        assertThat(text(answer(address, new byte[] {1, 2, 3}))).contains("handshake failed");
        assertThat(server.connections()).isZero();
        assertServes(server);
    }

    @Test
    void shouldServeOthersWhileGuestsSayNothingOrNonsense() throws Exception {
        RpcServer server = serve();
        try (Socket silent = dial(server);
                Socket wordy = dial(server);
                Socket shortSpoken = dial(server)) {
            wordy.getOutputStream().write(new byte[1 << 16]);
            shortSpoken.getOutputStream().write('R');
            shortSpoken.shutdownOutput();
            assertServes(server);
            assertThat(silent.isConnected()).isTrue();
        }
    }

    /** Any process that reaches the port can cause log lines: some a second are enough. */
    @Test
    void shouldRejectASilentClientAfterTheTimeout() throws IOException {
        assertThatThrownBy(() -> RdmaSettings.helloTimeout(Duration.ZERO)).hasMessageContaining("positive");
        RdmaSettings.helloTimeout(Duration.ofMillis(100));
        try (Socket silent = dial(serve())) {
            silent.setSoTimeout((int) TIMEOUT.toMillis());
            assertThat(silent.getInputStream().read()).isNegative();
        } finally {
            RdmaSettings.helloTimeout(Duration.ofSeconds(5));
        }
    }

    /** A peer that sends a byte now and then must not occupy a place for hours. */
    @Test
    void shouldRejectAClientThatSendsAByteNowAndThen() throws IOException {
        RdmaSettings.helloTimeout(Duration.ofMillis(200));
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        hello(Gid.NONE, 1, ByteBuffer.allocate(60_000)).write(frame);
        byte[] bytes = frame.toByteArray();
        try (Socket slow = dial(serve())) {
            // The pause before the next byte.
            slow.setSoTimeout(20);
            slow.getOutputStream().write(bytes, 0, 100);
            int said = 100;
            while (!isHungUp(slow)) {
                assertThat(said).as("bytes said one by one").isLessThan(1000);
                if (!isSaid(slow, bytes[said++])) {
                    break;
                }
            }
        } finally {
            RdmaSettings.helloTimeout(Duration.ofSeconds(5));
        }
    }

    private static boolean isSaid(Socket socket, byte what) {
        try {
            socket.getOutputStream().write(what);
            return true;
        } catch (IOException e) {
            // The server has just hung up.
            return false;
        }
    }

    private static boolean isHungUp(Socket socket) {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    @Test
    void shouldNotFillTheLogWithClientsThatItTurnsAway() throws IOException {
        PrintStream before = System.err;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        long begin = System.nanoTime();
        RpcServer server = serve();
        try {
            System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
            for (int i = 0; i < 200; i++) {
                try (Socket client = dial(server)) {
                    client.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                    assertThat(isShut(client)).isTrue();
                }
            }
        } finally {
            System.setErr(before);
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin);
        long lines = written.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains("was rejected"))
                .count();
        assertThat(lines).isBetween(1L, 10 * (seconds + 2));
    }

    private static boolean isShut(Socket client) {
        try {
            return client.getInputStream().read() < 0;
        } catch (IOException reset) {
            return true;
        }
    }

    private static Socket dial(RpcServer server) throws IOException {
        URI address = server.address().orElseThrow();
        return new Socket(address.getHost(), address.getPort());
    }

    /** Where a client writes, given what the server told it and what it told another client. */
    @FunctionalInterface
    private interface Aim {
        void shoot(RawClient hostile, PairHello mine, PairHello other);
    }

    /** Dials and greets without doing anything else in between, since the server waits five seconds for a hello. */
    private static RawClient connected(RpcServer server) throws IOException, ForeignPeerException {
        RawClient client = RawClient.dial(server.address().orElseThrow());
        client.greet(RawClient.hello(RawClient.PROTOCOL, RawClient.LAYOUT, "/test/echo", QUOTA));
        client.connect();
        return client;
    }

    private void shouldEndOnlyTheShooter(Aim aim) throws Exception {
        RpcServer server = serve();
        RpcChannel honest = channel(server);
        try (RawClient victim = connected(server);
                RawClient hostile = connected(server)) {
            Await.equal("connections", 3, server::connections);
            aim.shoot(hostile, hostile.server(), victim.server());
            Await.equal("connections", 2, server::connections);
            assertThat(echo(honest).add(1, 1)).isEqualTo(2);
            // The victim's connection is still usable: it may write a word to its own memory.
            victim.write(
                    victim.server().hello().memory().address() + 1024,
                    victim.server().hello().memory().key());
            assertThat(echo(honest).add(2, 2)).isEqualTo(4);
            assertThat(server.connections()).isEqualTo(2);
        }
    }

    @Test
    void shouldEndTheConnectionOfAClientWithAWrongKey() throws Exception {
        shouldEndOnlyTheShooter((hostile, mine, other) -> hostile.write(
                mine.hello().memory().address(), mine.hello().memory().key() ^ 0x1000));
    }

    @Test
    void shouldEndTheConnectionOfAClientThatWritesBehindItsMemory() throws Exception {
        shouldEndOnlyTheShooter((hostile, mine, other) -> hostile.write(
                mine.hello().memory().address() + mine.hello().memory().bytes() - 4,
                mine.hello().memory().key()));
    }

    @Test
    void shouldEndTheConnectionOfAClientThatKnowsAnothersKey() throws Exception {
        shouldEndOnlyTheShooter((hostile, mine, other) -> hostile.write(
                other.hello().memory().address(), other.hello().memory().key()));
    }

    // ---- devices at addresses that the peer chooses

    /** The GID of a software device at this port, which is not the peer's. */
    private static Gid gidAt(ServerSocket port) {
        long host = Integer.toUnsignedLong(
                ByteBuffer.wrap(port.getInetAddress().getAddress()).getInt());
        return new Gid(0xFD72L << 48 | (long) port.getLocalPort() << 32 | 1, 1L << 32 | host);
    }

    private static ServerSocket elsewhere() throws IOException {
        return new ServerSocket(0, 5, InetAddress.ofLiteral("127.0.0.3"));
    }

    private static void assertNoOneConnectedTo(ServerSocket port) throws IOException {
        try (Socket marker = new Socket(port.getInetAddress(), port.getLocalPort());
                Socket first = port.accept()) {
            assertThat(first.getPort()).isEqualTo(marker.getLocalPort());
        }
    }

    @Test
    void shouldConnectToNoAddressThatAClientChooses() throws IOException {
        byte[] packet = RawClient.hello(RawClient.PROTOCOL, RawClient.LAYOUT, "/test/echo", QUOTA);
        RpcServer server = serve();
        try (ServerSocket elsewhere = elsewhere();
                Socket client = dial(server)) {
            hello(gidAt(elsewhere), 77, ByteBuffer.wrap(packet)).write(client.getOutputStream());
            client.setSoTimeout((int) TIMEOUT.toMillis());
            assertThat(client.getInputStream().read()).as("no invitation").isNegative();
            assertNoOneConnectedTo(elsewhere);
        }
        assertServes(server);
    }

    @Test
    void shouldConnectToNoAddressThatAServerChooses() throws IOException {
        try (ServerSocket elsewhere = elsewhere();
                FakePeer peer = FakePeer.start((client, out) ->
                        hello(gidAt(elsewhere), 77, ByteBuffer.allocate(0)).write(out))) {
            assertThat(refused(peer.address()))
                    .hasMessageContainingAll("FAILED_PRECONDITION", "its device is not at its own address");
            assertNoOneConnectedTo(elsewhere);
        }
    }
}
