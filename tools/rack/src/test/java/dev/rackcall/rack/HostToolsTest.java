package dev.rackcall.rack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostToolsTest {
    @TempDir
    private Path folder;

    @Test
    void shouldSayWhatIsMissingAndWhichPackagesBringIt() {
        HostTools tools = new HostTools(what -> !Set.of("ip", "rdma", "ndctl").contains(what));

        assertThat(tools.missing())
                .containsExactly("ip (package iproute2)", "rdma (package iproute2)", "ndctl (package ndctl)");
        assertThat(tools.missingPackages()).containsExactly("iproute2", "ndctl");
        assertThatThrownBy(tools::require)
                .isInstanceOf(NotRunException.class)
                .hasMessageContainingAll(
                        "ndctl (package ndctl)", "apt-get install --no-install-recommends iproute2 ndctl");
    }

    @Test
    void shouldAcceptACompleteMachine() {
        assertThatCode(new HostTools(what -> true)::require).doesNotThrowAnyException();
    }

    @Test
    void shouldSayWhyAProgramFailed() {
        assertThatThrownBy(() -> Program.run(List.of("sh", "-c", "echo no disk >&2; exit 3"), folder, line -> {}))
                .isInstanceOf(NotRunException.class)
                .hasMessageContaining("no disk");
        assertThatThrownBy(() -> Program.run(List.of("/nonexistent/program"), folder, line -> {}))
                .isInstanceOf(NotRunException.class)
                .hasMessageContaining("/nonexistent/program");
    }
}
