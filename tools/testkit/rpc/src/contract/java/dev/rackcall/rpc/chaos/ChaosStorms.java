package dev.rackcall.rpc.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Usage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Storms of calls of all kinds from other processes, of which most are given up too early or too late, and calm after them: every call has ended once, calls go well, and no
 * stream, slot, memory, thread or descriptor is missing. The property {@code rackcall.chaos.rounds} says how many storms (1 by default), {@code rackcall.chaos.calls} how many calls
 * each of six threads makes in one (40), {@code rackcall.chaos.clients} how many processes with such threads there are (1), {@code rackcall.seed} what they call.
 */
@Timeout(900)
public abstract class ChaosStorms {
    protected static final int ROUNDS = Integer.getInteger("rackcall.chaos.rounds", 1);
    private static final int CALLS = Integer.getInteger("rackcall.chaos.calls", 40);
    private static final int CLIENTS = Integer.getInteger("rackcall.chaos.clients", 1);
    /** Short, so that handlers often lose the poller they run on. */
    private static final Duration STUCK = Duration.ofMillis(3);

    /** Of one storm on a busy machine. */
    private static final Duration BOUND = Duration.ofMinutes(5);

    @TempDir
    Path directory;

    private final long seed = Long.getLong("rackcall.seed", System.nanoTime());
    private final List<ChildJvm> clients = new ArrayList<>();

    /** Where the server is found. */
    protected RpcServer.Builder place(RpcServer.Builder server) {
        return server.directory(directory);
    }

    /** The server's address, or "-" if its clients are on this host. */
    protected String address(RpcServer server) {
        return "-";
    }

    public static Stream<Dispatch> dispatches() {
        return Stream.of(Dispatch.workers(3), Dispatch.direct(), Dispatch.virtualThreads());
    }

    @ParameterizedTest
    @MethodSource("dispatches")
    void shouldBeAsBeforeWhenAStormIsOver(Dispatch dispatch) throws Exception {
        ChaosService service = new ChaosService();
        try (RpcServer server = place(RpcServer.builder())
                        .service(Chaos.class, service)
                        .dispatch(dispatch)
                        .stuckAfter(STUCK)
                        .interceptor(call -> service.calls.begin(call.method().fullName()))
                        .start();
                RpcChannel self =
                        RpcChannel.builder("/test/chaos").directory(directory).open()) {
            service.self = self.stub(Chaos.class);
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(ChildJvm.start(ChaosClient.class, directory, directory.toString(), address(server)));
            }
            for (ChildJvm client : clients) {
                tell(client, "open");
                tell(client, "calm");
            }
            service.calls.awaitQuiet("server");
            Map<String, Integer> before = Usage.now();
            for (int round = 0; round < ROUNDS; round++) {
                storm(round);
                service.calls.awaitQuiet("server, seed " + seed);
                Await.equal("open streams at the server, seed " + seed, 0L, service.openStreams::get);
                for (ChildJvm client : clients) {
                    tell(client, "calm");
                }
                Await.equal("what the server has more of, seed " + seed, Map.of(), () -> Usage.grownSince(before));
            }
            assertThat(server.connections()).isEqualTo(1 + 2 * CLIENTS);
            for (ChildJvm client : clients) {
                tell(client, "close");
            }
            Await.equal("connections", 1, server::connections);
        } finally {
            clients.forEach(ChildJvm::close);
        }
        assertThat(directory.toFile().list()).isNullOrEmpty();
    }

    private void storm(int round) throws Exception {
        for (int i = 0; i < CLIENTS; i++) {
            clients.get(i).send("storm " + (seed + (long) round * CLIENTS + i) + " " + CALLS);
        }
        for (ChildJvm client : clients) {
            heed(client, "storm");
        }
    }

    private void tell(ChildJvm client, String what) throws Exception {
        client.send(what);
        heed(client, what);
    }

    private void heed(ChildJvm client, String what) throws InterruptedException {
        String answer = client.awaitLine(">", BOUND);
        assertThat(answer).as("%s, seed %d", what, seed).startsWith("> well");
    }
}
