package dev.rackcall.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.TestCertificate;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import dev.rackcall.verbs.soft.TlsOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the page on verbs shows. */
class VerbsPageTest {
    @TempDir
    private Path folder;

    @Test
    void shouldWriteIntoAPeersMemory() throws Exception {
        MemorySegment memory = Arena.ofAuto().allocate(4096, 64);
        memory.set(ValueLayout.JAVA_LONG, 0, 0xC0FFEE);
        try (Bench peer = new Bench(Devices.find("soft:b"));
                Context context = Devices.find("soft:a").open()) {
            QueuePair peersPair = peer.queuePair(QueuePairType.RC);
            Gid peerGid = peer.gid();
            int gidIndex = 0;
            int peerNumber = peersPair.number();
            long peerAddress = peer.region.address();
            int peerKey = peer.region.remoteKey();

            ProtectionDomain domain = context.allocateProtectionDomain();
            CompletionQueue completions = context.createCompletionQueue(CompletionQueueSpec.of(256));
            MemoryRegion region = domain.register(memory, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE));
            QueuePair queuePair = domain.createQueuePair(QueuePairSpec.of(QueuePairType.RC, completions));
            // Exchange GID, queue pair number, address and key with the peer, by any means.
            peer.connect(peersPair, context.gid(1, gidIndex), queuePair.number(), Bench.PATIENT);
            queuePair.toInit(InitAttributes.connected());
            queuePair.toReadyToReceive(ReadyToReceive.from(AddressVector.of(peerGid, gidIndex), peerNumber));
            queuePair.toReadyToSend(ReadyToSend.defaults().withRetries(18, 6)); // gives up after 7 s, not half a second

            WorkRequest request = WorkRequest.create(1, 64);
            queuePair.postSend(request.write(peerAddress, peerKey)
                    .from(region, 0, 4096)
                    .id(7)
                    .signaled());
            Completions batch = Completions.create(16);
            Await.until("the completion", () -> completions.poll(batch) == 1);
            assertThat(batch.id(0)).isEqualTo(7);
            assertThat(batch.isSuccess(0)).isTrue();
            assertThat(peer.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0xC0FFEE);
            queuePair.close();
            region.close();
            completions.close();
            domain.close();
        }
    }

    @Test
    void shouldOpenADeviceWithCertificates() {
        TestCertificate own = TestCertificate.make(folder, "own");
        InetAddress address = InetAddress.ofLiteral("127.0.0.1");
        int port = 0;
        Path chain = own.certificate();
        Path key = own.key();
        Path authority = own.certificate();
        SoftOptions options = SoftOptions.local() // 127.0.0.1, any port, 2048 peers, no TLS, no faults
                .at(address, port)
                .withTls(new TlsOptions(chain, key, authority));
        try (Context context = SoftDevice.of("a", options).open()) {
            assertThat(context.gid(1, 0)).isNotEqualTo(Gid.NONE);
        }
    }
}
