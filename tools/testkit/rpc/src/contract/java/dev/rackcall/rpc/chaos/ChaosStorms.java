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
 * Storms of calls of all kinds from other processes, most of which time out or are cancelled. After each storm, every
 * call has ended once, new calls succeed, and no stream, slot, memory, thread or descriptor is missing. Properties:
 * {@code rackcall.chaos.rounds}, the number of storms (1); {@code rackcall.chaos.calls}, the calls of each of six
 * threads in a storm (40); {@code rackcall.chaos.clients}, the number of processes (1); {@code rackcall.seed}, which
 * decides what they call.
 */
@Timeout(900)
public abstract class ChaosStorms {
    protected static final int ROUNDS = Integer.getInteger("rackcall.chaos.rounds", 1);
    private static final int CALLS = Integer.getInteger("rackcall.chaos.calls", 40);
    private static final int CLIENTS = Integer.getInteger("rackcall.chaos.clients", 1);
    /** Short, so that handlers are often relieved of polling. */
    private static final Duration STUCK = Duration.ofMillis(3);

    /** The bound of one storm on a busy machine. */
    private static final Duration BOUND = Duration.ofMinutes(5);

    @TempDir
    Path directory;

    private final long seed = Long.getLong("rackcall.seed", System.nanoTime());
    private final List<ChildJvm> clients = new ArrayList<>();

    protected RpcServer.Builder place(RpcServer.Builder server) {
        return server.runtimeFolder(directory);
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
                        .interceptor((call, next) -> {
                            call.onEnd(service.calls.begin(call.method().fullName()));
                            next.run();
                        })
                        .start();
                RpcChannel self = RpcChannel.builder("/test/chaos")
                        .runtimeFolder(directory)
                        .open()) {
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
