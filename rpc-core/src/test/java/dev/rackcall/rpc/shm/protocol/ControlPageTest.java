package dev.rackcall.rpc.shm.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** A change of the version needs a change of the page with the layouts. */
class ControlPageTest {
    @Test
    void shouldNameTheVersionsOfConnectionAndHandshake() throws IOException {
        assertThat(Files.readString(Path.of("..", "docs", "internals", "connection-layout.md")))
                .contains("magic `RACKCALL` (8), layout version " + ControlLayout.VERSION + " (4)")
                .contains("magic `RACKCALL` (8), protocol version " + Handshake.PROTOCOL + " (4)");
    }
}
