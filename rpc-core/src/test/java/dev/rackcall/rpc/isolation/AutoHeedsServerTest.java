package dev.rackcall.rpc.isolation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.sandbox.IsolationEvents;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.testkit.ChildJvm;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * AUTO seals from the first call if the server does not copy as much as the caller passes, and never if the server
 * refuses seals.
 */
@Timeout(60)
class AutoHeedsServerTest {
    private static final int LARGEST_COPY = 64 << 10;

    @TempDir
    Path directory;

    private RpcServer server;

    private void start(Isolation minimum) {
        start(minimum, SandboxPolicy.STRICT.withMaxSnapshot(LARGEST_COPY));
    }

    private void start(Isolation minimum, SandboxPolicy policy) {
        server = RpcServer.builder()
                .service(Vault.class, new VaultService())
                .directory(directory)
                .minimumIsolation(minimum)
                .sandbox(policy)
                .start();
    }

    @BeforeEach
    void requireSeals() {
        try {
            Userfault.open().close();
        } catch (UnsupportedFeatureException e) {
            System.err.println("SKIPPED AutoHeedsServerTest: " + e.getMessage());
            assumeThat(e).isNull();
        }
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void shouldSealWhatTheServerWouldNotCopy() {
        start(Isolation.TRUSTED);
        long before = IsolationEvents.counters().seals();
        assertThat(ChangingCaller.call(directory)).isEqualTo(ChangingCaller.CALLS);
        assertThat(IsolationEvents.counters().seals() - before).isEqualTo(ChangingCaller.CALLS);
    }

    @Test
    void shouldSealWhatAServerInAnotherProcessWouldNotCopy() throws Exception {
        start(Isolation.TRUSTED);
        try (ChildJvm caller = ChildJvm.start(ChangingCaller.class, directory, directory.toString())) {
            assertThat(caller.awaitLine("answered ")).isEqualTo("answered " + ChangingCaller.CALLS);
        }
    }

    /** The server also copies sealed arguments. */
    @Test
    void shouldSayWhyAServerThatBelievesNoSealRefuses() {
        start(Isolation.AUTO);
        assertThatThrownBy(() -> ChangingCaller.call(directory))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("RESOURCE_EXHAUSTED")
                .hasMessageContaining("this server takes up to 64");
    }

    /** Where AUTO may seal a scope that seldom changes, it does so after 16 calls. */
    @Test
    void shouldNotSealForAServerThatBelievesOnlyAHolder() {
        start(Isolation.TRUSTED, SandboxPolicy.STRICT.withEnforcedSeals(directory.resolve("nobody"), Wish.REQUIRE));
        try (RpcChannel channel =
                        RpcChannel.builder("/test/vault").directory(directory).open();
                Scope scope = channel.newScope(5 * 4096)) {
            scope.allocate(4 * 4096);
            Coin coin = scope.create(Coin.class);
            coin.value(7);
            coin.next(Ref.nullRef());
            for (int i = 0; i < 100; i++) {
                assertThat(stub(channel, Isolation.AUTO).sumTrusted(coin)).isEqualTo(7);
            }
            assertThatThrownBy(() -> stub(channel, Isolation.SEALED).sumTrusted(coin))
                    .hasMessageContaining("FAILED_PRECONDITION");
        }
    }

    private static Vault stub(RpcChannel channel, Isolation isolation) {
        return channel.stub(Vault.class, CallOptions.DEFAULT.withIsolation(isolation));
    }
}
