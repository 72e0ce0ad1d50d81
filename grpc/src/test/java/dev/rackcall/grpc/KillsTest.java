package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Usage;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
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

    private static final int CALLERS = 3;
    /** More calls than this between a start and its kill would only take time. */
    private static final int MOST_CALLS = 300;

    @TempDir
    private Path directory;

    private final long seed = Long.getLong("rackcall.seed", System.nanoTime());
    private final Random random = new Random(seed);

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
                try (Load load = new Load(channel)) {
                    load.awaitAnswers(20);
                    System.out.println("ready");
                    System.in.read();
                }
            }
            System.in.read();
            System.exit(0);
        }
    }

    /**
     * Callers that check each answer. A failure other than UNAVAILABLE is remembered; after one, they wait for a
     * server.
     */
    private static final class Load implements AutoCloseable {
        final AtomicLong answers = new AtomicLong();
        final AtomicReference<Throwable> wrong = new AtomicReference<>();
        private final List<Thread> threads = new ArrayList<>();
        private volatile boolean ended;

        Load(ManagedChannel channel) {
            for (int i = 0; i < CALLERS; i++) {
                int caller = i;
                threads.add(Thread.ofPlatform().name("caller-" + i).start(() -> call(channel, new Random(caller))));
            }
        }

        private void call(ManagedChannel channel, Random sizes) {
            while (!ended) {
                byte[] value = new byte[sizes.nextInt(8) == 0 ? sizes.nextInt(300_000) : sizes.nextInt(2_000)];
                Arrays.fill(value, (byte) sizes.nextInt());
                CallOptions options = CallOptions.DEFAULT.withWaitForReady().withDeadlineAfter(100, TimeUnit.SECONDS);
                try {
                    if (sizes.nextInt(4) == 0) {
                        repeat(channel, options, value);
                    } else {
                        assertThat(ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, options, value))
                                .isEqualTo(value);
                    }
                    answers.incrementAndGet();
                } catch (StatusRuntimeException e) {
                    if (e.getStatus().getCode() != Status.Code.UNAVAILABLE) {
                        wrong.compareAndSet(null, e);
                    }
                } catch (Throwable e) {
                    wrong.compareAndSet(null, e);
                }
            }
        }

        private static void repeat(ManagedChannel channel, CallOptions options, byte[] value) {
            Iterator<byte[]> parts =
                    ClientCalls.blockingServerStreamingCall(channel, BytesService.REPEAT, options, value);
            int received = 0;
            while (parts.hasNext()) {
                assertThat(parts.next()).isEqualTo(value);
                received++;
            }
            assertThat(received).isEqualTo(BytesService.PARTS);
        }

        void awaitAnswers(long more) {
            long before = answers.get();
            Await.until("answers", () -> answers.get() >= before + more || wrong.get() != null);
            assertThat(wrong.get()).isNull();
        }

        @Override
        public void close() throws InterruptedException {
            ended = true;
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    @Test
    void shouldSurviveKilledServers() throws Exception {
        ManagedChannel channel = connect();
        try (Load load = new Load(channel)) {
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
            Await.equal("what is left of dead servers, seed " + seed, Map.of(), () -> Usage.grownSince(first));
            // The callers end with their calls, which need a server.
            Server last = start();
            load.awaitAnswers(1);
            load.close();
            last.shutdownNow();
            assertThat(load.wrong.get()).as("seed %d", seed).isNull();
        } finally {
            channel.shutdownNow();
        }
    }

    @Test
    void shouldSurviveKilledClients() throws Exception {
        Server server = start();
        ManagedChannel channel = connect();
        try (Load honest = new Load(channel)) {
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
            Await.equal("what is left of dead clients, seed " + seed, Map.of(), () -> Usage.grownSince(first));
            honest.close();
            assertThat(honest.wrong.get()).as("seed %d", seed).isNull();
        } finally {
            channel.shutdownNow();
            server.shutdownNow();
        }
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
