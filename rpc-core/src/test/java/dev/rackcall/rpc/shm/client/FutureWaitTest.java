package dev.rackcall.rpc.shm.client;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.spi.ClientCall;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a thread polls that waits for a future: not for longer than it waits. */
class FutureWaitTest {
    private static final MethodDescriptor METHOD =
            HostileScript.service("/test/echo").methods().getFirst();
    /** A poll is counted once in some rounds; one that takes no account of the time goes on for a thousand. */
    private static final int FEW = 10;

    @TempDir
    Path directory;

    @Test
    void shouldPollNoLongerThanItWaits() throws Exception {
        try (LyingServer server = new LyingServer(directory, HostileScript.service("/test/echo"))) {
            server.answer((ticket, slot, memory) -> {});
            ShmClientConnection connection = LyingServer.connect("/test/echo", directory, Duration.ofSeconds(20));
            try {
                connection.use(HostileScript.service("/test/echo"));
                ClientCall call = connection.begin(METHOD, 0, Metadata.EMPTY, Isolation.TRUSTED, CallObserver.NONE);
                call.arguments().writeLong(1);
                CompletableFuture<Long> future = call.invokeAsync((in, of) -> in.readLong());
                int before = connection.async.helped();
                assertThatThrownBy(() -> future.get(0, TimeUnit.NANOSECONDS)).isInstanceOf(TimeoutException.class);
                assertThat(connection.async.helped() - before).isLessThan(FEW);
                // Given time; on a busy machine 10 ms may pass without this thread.
                for (long millis = 10; connection.async.helped() - before <= FEW; millis *= 2) {
                    long wait = millis;
                    assertThat(wait).isLessThan(10_000);
                    assertThrown(TimeoutException.class, () -> future.get(wait, TimeUnit.MILLISECONDS));
                }
            } finally {
                connection.close();
            }
        }
    }
}
