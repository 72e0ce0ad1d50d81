package dev.rackcall.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.sandbox.IsolationEvents;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.sandbox.os.Userfault;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** AUTO against a server that copies less than its callers pass: it must seal, from the first call on. */
@Timeout(60)
class AutoBelowSnapshotBoundTest {
    private static final int LARGEST_COPY = 64 << 10;

    @TempDir
    Path directory;

    private RpcServer server;

    private void start(Isolation minimum) {
        server = RpcServer.builder()
                .service(Vault.class, new VaultService())
                .directory(directory)
                .minimumIsolation(minimum)
                .sandbox(SandboxPolicy.STRICT.withMaxSnapshot(LARGEST_COPY))
                .start();
    }

    @BeforeEach
    void requireSeals() {
        try {
            Userfault.open().close();
        } catch (UnsupportedFeatureException e) {
            System.err.println("SKIPPED AutoBelowSnapshotBoundTest: " + e.getMessage());
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

    /** It copies what is sealed, too. */
    @Test
    void shouldSayWhyAServerThatBelievesNoSealRefuses() {
        start(Isolation.AUTO);
        assertThatThrownBy(() -> ChangingCaller.call(directory))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("RESOURCE_EXHAUSTED")
                .hasMessageContaining("this server takes up to 64");
    }
}
