package dev.rackcall.grpc;

import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Usage;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Servers and clients are killed amid calls of all sizes: calls of others get right answers, and nothing is left
 * behind.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class KillsTest {
    private static final String CHANNEL = "/test/kills";
    /** Of each side; the long tests kill 20. */
    private static final int KILLS =
            Integer.getInteger("rackcall.grpc.kills", Math.max(3, Integer.getInteger("rackcall.kills", 0) / 10));

    /** More calls than this between a start and its kill would only take time. */
    private static final int MOST_CALLS = 100;

    @TempDir
    private Path directory;

    private final Random random = new Random(Load.SEED);

    /** A server or a client that calls endlessly, in a process of its own: {@code serve} or {@code call}. */
    static final class Victim {
        private Victim() {}

        public static void main(String[] args) throws Exception {
            if (args[0].equals("serve")) {
                RackcallServerBuilder.forChannel(CHANNEL)
                        .addService(new BytesService())
                        .build()
                        .start();
                System.out.println("ready");
            } else {
                ManagedChannel channel =
                        RackcallChannelBuilder.forChannel(CHANNEL).build();
                try (Load load = load(channel)) {
                    load.awaitAnswers(7);
                    System.out.println("ready");
                    System.in.read();
                }
            }
            System.in.read();
            System.exit(0);
        }
    }

    @Test
    void shouldSurviveKilledServers() throws Exception {
        ManagedChannel channel = connect();
        try (Load load = load(channel)) {
            Map<String, Integer> before = Map.of();
            for (int kill = 0; kill < KILLS; kill++) {
                try (ChildJvm child = ChildJvm.start(Victim.class, directory, "serve")) {
                    child.awaitLine("ready");
                    load.awaitAnswers(1 + random.nextInt(MOST_CALLS));
                    child.kill();
                }
                if (kill == 0) {
                    before = Usage.now();
                }
            }
            Map<String, Integer> first = before;
            Await.equal("what is left of dead servers, seed " + Load.SEED, Map.of(), () -> Usage.grownSince(first));
            // The callers end with their calls, which need a server.
            Server last = start();
            load.awaitAnswers(1);
            load.close();
            last.shutdownNow();
        } finally {
            channel.shutdownNow();
        }
    }

    @Test
    void shouldSurviveKilledClients() throws Exception {
        Server server = start();
        ManagedChannel channel = connect();
        try (Load honest = load(channel)) {
            honest.awaitAnswers(1);
            Map<String, Integer> before = Map.of();
            for (int kill = 0; kill < KILLS; kill++) {
                try (ChildJvm child = ChildJvm.start(Victim.class, directory, "call")) {
                    child.awaitLine("ready");
                    honest.awaitAnswers(1 + random.nextInt(MOST_CALLS));
                    child.kill();
                }
                if (kill == 0) {
                    before = Usage.now();
                }
            }
            Map<String, Integer> first = before;
            Await.equal("what is left of dead clients, seed " + Load.SEED, Map.of(), () -> Usage.grownSince(first));
        } finally {
            channel.shutdownNow();
            server.shutdownNow();
        }
    }

    /** Its calls wait for a server after one that was killed. */
    private static Load load(ManagedChannel channel) {
        return new Load(channel, CallOptions.DEFAULT.withWaitForReady(), Status.Code.UNAVAILABLE);
    }

    private ManagedChannel connect() {
        return RackcallChannelBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .build();
    }

    private Server start() throws Exception {
        return RackcallServerBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .addService(new BytesService())
                .build()
                .start();
    }
}
