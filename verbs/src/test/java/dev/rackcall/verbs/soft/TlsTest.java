package dev.rackcall.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.testkit.TestCertificate;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Bench;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Connected;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import dev.rackcall.verbs.soft.wire.LinkHello;
import dev.rackcall.verbs.soft.wire.SoftGid;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateFactory;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.SSLSocketFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Software devices with certificates. */
class TlsTest {
    @TempDir
    private static Path folder;

    private static final Map<String, TestCertificate> CERTIFICATES = new HashMap<>();

    private final WorkRequest request = WorkRequest.create(1, 64);

    @BeforeAll
    static void makeCertificates() {
        for (String name : new String[] {"a", "b", "stranger"}) {
            CERTIFICATES.put(name, TestCertificate.make(folder, name));
        }
    }

    private static TlsOptions options(String name, String... trusted) throws IOException {
        StringBuilder authority = new StringBuilder();
        for (String other : trusted) {
            authority.append(Files.readString(CERTIFICATES.get(other).certificate()));
        }
        Path file = Files.writeString(folder.resolve(name + ".trust"), authority);
        return new TlsOptions(
                CERTIFICATES.get(name).certificate(), CERTIFICATES.get(name).key(), file);
    }

    private static Bench bench(String name, String... trusted) throws Exception {
        return new Bench(SoftDevice.of(name, SoftOptions.local().withTls(options(name, trusted))));
    }

    private static Connected connected(Bench a, Bench b) {
        return new Connected(a, b, Bench.PATIENT, InitAttributes.connected());
    }

    @Test
    void shouldTalkToTrustedPeers() throws Exception {
        try (Connected pair = connected(bench("a", "b"), bench("b", "a"))) {
            int length = 1 << 20;
            MemorySegment from = Arena.ofAuto().allocate(length);
            MemorySegment to = Arena.ofAuto().allocate(length);
            from.fill((byte) 7);
            var source = pair.a.register(from, EnumSet.allOf(Access.class));
            var target = pair.b.register(to, EnumSet.allOf(Access.class));

            pair.succeed(request.write(target.address(), target.remoteKey())
                    .from(source, 0, length)
                    .signaled());
            assertThat(from.mismatch(to)).isEqualTo(-1);

            from.fill((byte) 0);
            pair.succeed(request.read(target.address(), target.remoteKey())
                    .from(source, 0, length)
                    .signaled());
            assertThat(from.mismatch(to)).isEqualTo(-1);
        }
    }

    @Test
    void shouldServeManyRequestsAtOnce() throws Exception {
        try (Connected pair = connected(bench("a", "b"), bench("b", "a"))) {
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < 100; i++) {
                    request.read(pair.b.region.address(), pair.b.region.remoteKey())
                            .from(pair.a.region, 0, 4000)
                            .id(i)
                            .signaled();
                    assertThat(pair.qa.postSend(request)).isTrue();
                }
                assertThat(pair.a.next(100))
                        .allSatisfy(done -> assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS));
            }
        }
    }

    @Test
    void shouldNotTalkToAStranger() throws Exception {
        try (Connected pair = connected(bench("a", "b", "stranger"), bench("stranger", "a"));
                Bench b = bench("b", "a")) {
            pair.succeed(write(pair.b));
            var toB = pair.b.queuePair(dev.rackcall.verbs.QueuePairType.RC);
            var atB = b.queuePair(dev.rackcall.verbs.QueuePairType.RC);
            pair.b.connect(toB, b, atB, ReadyToSend.defaults(), InitAttributes.connected());
            b.connect(atB, pair.b, toB);
            toB.postSend(write(b));
            assertThat(pair.b.next().status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED);
        }
    }

    /** The stranger's certificate is trusted, and it knows another device's GID with its proof. */
    @Test
    void shouldBindAGidToTheCertificateOfItsDevice() throws Exception {
        try (Bench victim = bench("b", "a", "stranger")) {
            RawIdentity known =
                    RawIdentity.at(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 4242), publicKey("a"));
            try (RawPeer stranger = peer("stranger", victim)) {
                assertThat(stranger.greet(known.hello(victim.gid()))).isEqualTo(LinkHello.Answer.NOT_PROVEN);
            }
            try (RawPeer itself = peer("a", victim)) {
                assertThat(itself.greet(known.hello(victim.gid()))).isEqualTo(LinkHello.Answer.ACCEPTED);
            }
        }
    }

    /** What follows its hello in the same TLS record must not count. */
    @Test
    void shouldIgnoreFramesBehindARefusedHello() throws Exception {
        try (Bench victim = bench("b", "a", "stranger")) {
            RawIdentity known =
                    RawIdentity.at(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 4242), publicKey("a"));
            QueuePair own = victim.connectedTo(known.gid(), 77, Bench.PATIENT);
            ByteBuffer hello = known.hello(victim.gid());
            ByteBuffer frame = emptyWrite(own, 0);
            try (RawPeer stranger = peer("stranger", victim)) {
                stranger.send(ByteBuffer.allocate(hello.remaining() + frame.capacity())
                        .put(hello)
                        .put(frame.clear())
                        .rewind());
                assertThat(stranger.read(FrameLayout.HELLO_BYTES).getInt(FrameLayout.HELLO_ANSWER))
                        .isEqualTo(LinkHello.Answer.NOT_PROVEN.ordinal());
                assertThat(stranger.isClosed()).isTrue();
            }
            try (RawPeer itself = peer("a", victim)) {
                assertThat(itself.greet(known.hello(victim.gid()))).isEqualTo(LinkHello.Answer.ACCEPTED);
                // The second packet is only acknowledged if the first one has come before.
                itself.send(emptyWrite(own, 1));
                itself.send(emptyWrite(own, 0));
                assertThat(itself.read(FrameLayout.RESPONSE_BYTES).getInt(FrameLayout.RESPONSE_PACKET))
                        .isZero();
            }
        }
    }

    private static ByteBuffer emptyWrite(QueuePair to, int packet) {
        return RawPeer.request(FrameLayout.REQUEST_BYTES, 0)
                .putInt(FrameLayout.DESTINATION, to.number())
                .putInt(FrameLayout.SOURCE, 77)
                .putInt(FrameLayout.PACKET, packet)
                .put(FrameLayout.FLAGS, (byte) FrameLayout.WANTS_ANSWER);
    }

    private static byte[] publicKey(String name) throws Exception {
        try (InputStream in = Files.newInputStream(CERTIFICATES.get(name).certificate())) {
            return CertificateFactory.getInstance("X.509")
                    .generateCertificate(in)
                    .getPublicKey()
                    .getEncoded();
        }
    }

    private static RawPeer peer(String name, Bench target) throws Exception {
        SslContext context = options(name, "b").client();
        InetSocketAddress address = SoftGid.address(target.gid());
        SSLSocketFactory sockets = ((JdkSslContext) context).context().getSocketFactory();
        return new RawPeer(sockets.createSocket(address.getAddress(), address.getPort()));
    }

    @Test
    void shouldNotTalkWithoutTls() throws Exception {
        try (Connected pair = new Connected(
                new Bench(SoftDevice.of("plain", SoftOptions.local())),
                bench("b", "a"),
                ReadyToSend.defaults(),
                InitAttributes.connected())) {
            assertThat(pair.run(write(pair.b)).status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED);
        }
    }

    @Test
    void shouldNameUnusableFiles() throws Exception {
        Path junk = Files.writeString(folder.resolve("junk.pem"), "junk");
        SoftOptions options = SoftOptions.local()
                .withTls(new TlsOptions(junk, junk, CERTIFICATES.get("a").certificate()));
        assertThatThrownBy(() -> SoftDevice.of("junk", options).open())
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("junk.pem")
                .hasMessageContaining("PEM");
    }

    private WorkRequest write(Bench to) {
        return to.write(request).inline(1).signaled();
    }
}
