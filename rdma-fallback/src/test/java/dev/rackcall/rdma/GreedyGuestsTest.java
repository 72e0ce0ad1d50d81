package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Concurrently;
import dev.rackcall.testkit.MemoryGroup;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients with a device that together ask a server for more than its control group's limit. */
@Timeout(1200)
class GreedyGuestsTest {
    private static final long LIMIT = 3L << 30;
    private static final int CLIENTS = 16;
    private static final int ROUNDS = Integer.getInteger("rackcall.kills", 0) > 0 ? 50 : 2;
    /** A connection has two arenas of this size, all of it reserved. */
    private static final long QUOTA = 256L << 20;

    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @TempDir
    private Path directory;

    /** Whether the server has memory for it. */
    private record Outcome(RawClient client, String answer) {}

    @Test
    void shouldRefuseTheSurplusInsteadOfBeingKilled() throws Exception {
        Optional<MemoryGroup> made = MemoryGroup.make(LIMIT);
        assumeTrue(made.isPresent(), "NOT TESTED: no control group with a memory limit can be made here");
        try (MemoryGroup group = made.get();
                ChildJvm server = ChildJvm.of(EchoChild.class, "serve", "soft://127.0.0.1:0")
                        .directory(directory)
                        .behind(group.command())
                        .start()) {
            URI address = URI.create(server.awaitLine("serving at ").substring("serving at ".length()));
            for (int round = 0; round < ROUNDS; round++) {
                List<Outcome> outcomes = Concurrently.call(CLIENTS, i -> greet(address));
                outcomes.forEach(outcome -> outcome.client().close());
                assertThat(outcomes)
                        .as("round %d", round)
                        .anyMatch(outcome -> outcome.answer().contains("has no memory for a connection"));
                assertThat(group.kills()).as("killed in round %d", round).isZero();
                assertServes(address);
            }
        }
    }

    private static Outcome greet(URI address) throws Exception {
        RawClient client = RawClient.dial(address);
        byte[] hello = RawClient.hello(RawClient.PROTOCOL, RawClient.LAYOUT, "/test/echo", QUOTA);
        return new Outcome(client, new String(client.greet(hello, 1L << 40), StandardCharsets.UTF_8));
    }

    private static void assertServes(URI address) {
        try (RpcChannel channel = EchoServer.channelTo(Echo.class, address)
                .connectTimeout(TIMEOUT)
                .open()) {
            assertThat(channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(TIMEOUT))
                            .add(1, 2))
                    .isEqualTo(3);
        }
    }
}
