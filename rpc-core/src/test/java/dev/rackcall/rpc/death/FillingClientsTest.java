package dev.rackcall.rpc.death;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.MemoryGroup;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server and clients that together want more than their control group's limit: some are refused, all live. */
@Timeout(300)
class FillingClientsTest {
    private static final long LIMIT = 1L << 30;
    private static final int CLIENTS = 4;
    private static final int ROUNDS = Integer.getInteger("rackcall.kills", 0) > 0 ? 50 : 2;

    @TempDir
    private Path directory;

    private ChildJvm start(MemoryGroup group, Class<?> main) {
        return ChildJvm.of(main, directory)
                .directory(directory)
                .behind(group.command())
                .start();
    }

    @Test
    void shouldRefuseClientsInsteadOfBeingKilled() throws Exception {
        Optional<MemoryGroup> made = MemoryGroup.make(LIMIT);
        assumeTrue(made.isPresent(), "NOT TESTED: no control group with a memory limit can be made here");
        List<ChildJvm> clients = new ArrayList<>();
        try (MemoryGroup group = made.get();
                ChildJvm server = start(group, StandbyServer.class)) {
            try {
                server.awaitLine("ready");
                server.send("serve");
                server.awaitLine("serving");
                for (int i = 0; i < CLIENTS; i++) {
                    clients.add(start(group, FillingClient.class));
                }
                for (ChildJvm client : clients) {
                    client.awaitLine("ready");
                }
                for (int round = 0; round < ROUNDS; round++) {
                    assertThat(fillOnce(clients)).as("round %d", round).anyMatch(line -> line.startsWith("refused"));
                    assertThat(group.kills()).as("killed in round %d", round).isZero();
                }
            } finally {
                clients.forEach(ChildJvm::close);
            }
        }
    }

    private static List<String> fillOnce(List<ChildJvm> clients) throws Exception {
        for (ChildJvm client : clients) {
            client.send("fill");
        }
        List<String> lines = new ArrayList<>();
        for (ChildJvm client : clients) {
            String line = client.awaitLine();
            assertThat(line).matches("(full|refused) .*");
            lines.add(line);
        }
        for (ChildJvm client : clients) {
            client.send("close");
        }
        for (ChildJvm client : clients) {
            client.awaitLine("closed");
        }
        return lines;
    }
}
