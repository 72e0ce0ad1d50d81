package dev.rackcall.rpc.isolation;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.sandbox.IsolationEvents;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.testkit.ChildJvm;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * AUTO seals from the first call if the server does not copy as much as the caller passes, and never if the server
 * refuses seals.
 */
class AutoHeedsServerTest extends VaultFixture {
    private static final int LARGEST_COPY = 64 << 10;

    private void start(Isolation minimum) {
        start(minimum, SandboxPolicy.STRICT.withMaxSnapshot(LARGEST_COPY));
    }

    private void start(Isolation minimum, SandboxPolicy policy) {
        serve(serving(Vault.class, new VaultService()).minimumIsolation(minimum).sandbox(policy));
    }

    @BeforeEach
    void require() {
        requireSeals();
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
        assertThrown(
                RpcException.class,
                () -> ChangingCaller.call(directory),
                "RESOURCE_EXHAUSTED",
                "this server takes up to 64");
    }

    /** Where AUTO may seal a scope that seldom changes, it does so after 16 calls. */
    @Test
    void shouldNotSealForAServerThatBelievesOnlyAHolder() {
        start(Isolation.TRUSTED, SandboxPolicy.STRICT.withEnforcedSeals(directory.resolve("nobody"), Wish.REQUIRE));
        RpcChannel channel = open(Vault.class);
        Scope scope = channel.newScope(5 * 4096);
        scope.allocate(4 * 4096);
        Coin coin = coin(scope, 7);
        coin.next(Ref.nullRef());
        for (int i = 0; i < 100; i++) {
            assertThat(vault(channel, Isolation.AUTO).sumTrusted(coin)).isEqualTo(7);
        }
        assertThatThrownBy(() -> vault(channel, Isolation.SEALED).sumTrusted(coin))
                .hasMessageContaining("FAILED_PRECONDITION");
    }
}
