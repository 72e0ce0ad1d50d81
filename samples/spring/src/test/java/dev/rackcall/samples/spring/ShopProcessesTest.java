package dev.rackcall.samples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs the two applications in processes of their own, as in production, and ends a server by a signal. */
@Timeout(600)
class ShopProcessesTest {
    private static final int CALLS = 3;
    /** 128 and the number of SIGTERM. */
    private static final int TERMINATED = 143;

    @TempDir
    private Path folder;

    private ChildJvm start(Class<?> application) {
        // The test decides how long the drain takes, however slow the machine is.
        return ChildJvm.of(
                        application,
                        "--rackcall.runtime-folder=" + folder,
                        "--rackcall.server.drain=10m",
                        "--rackcall.client.timeout=10m",
                        "--spring.lifecycle.timeout-per-shutdown-phase=11m",
                        "--spring.threads.virtual.enabled=true",
                        "--spring.main.banner-mode=off",
                        "--logging.level.root=error")
                .start();
    }

    private static String ask(ChildJvm child, String command, String answer) {
        try {
            child.send(command);
            return child.awaitLine(answer).substring(answer.length());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static String put(ChildJvm client) {
        return ask(client, "put", "put ");
    }

    private static String health(ChildJvm client) {
        return ask(client, "health", "health ");
    }

    private static List<String> golden(ChildJvm client) {
        return client.output()
                .lines()
                .filter(line -> line.startsWith(GoldBasket.GOLD))
                .toList();
    }

    @Test
    void shouldMoveToAnotherServerWhileATerminatedOneCompletesItsCalls() throws Exception {
        try (ChildJvm client = start(ShopClientChild.class);
                ChildJvm first = start(ShopServerChild.class)) {
            client.awaitLine("ready");
            first.awaitLine("serving");
            assertThat(put(client)).isEqualTo("1");
            assertThat(put(client)).isEqualTo("2");
            assertThat(health(client)).isEqualTo("UP");

            for (int i = 0; i < CALLS; i++) {
                client.send(GoldBasket.GOLD);
            }
            Await.equal("calls in the handler", "" + CALLS, () -> ask(first, "count", "begun "));
            first.terminate();
            Await.equal("a call while no server takes it", "UNAVAILABLE", () -> put(client));
            Await.equal("the client's health", "DOWN", () -> health(client));

            try (ChildJvm second = start(ShopServerChild.class)) {
                second.awaitLine("serving");
                Await.equal("the first call to the second server", "1", () -> put(client));
                assertThat(health(client)).isEqualTo("UP");

                assertThat(first.isAlive()).as("the first server, which drains").isTrue();
                assertThat(golden(client)).isEmpty();
                first.send("pay");
                assertThat(first.awaitEnd()).isEqualTo(TERMINATED);
                Await.equal("answers of the first server", List.of("gold 7", "gold 7", "gold 7"), () -> golden(client));
                assertThat(put(client)).isEqualTo("2");

                second.terminate();
                assertThat(second.awaitEnd()).isEqualTo(TERMINATED);
                assertThat(put(client)).isEqualTo("UNAVAILABLE");
                assertThat(health(client)).isEqualTo("DOWN");
            }
            assertThat(client.end()).isZero();
        }
    }
}
