package dev.rackcall.rpc.shm;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.rpc.spi.TestSpecs;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.testkit.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The server bounds how many clients connect and say nothing, and how long; it disconnects them and serves others. */
class PendingClientsTest extends RpcFixture {
    private static final long PATIENCE = 1_000;

    private final List<UnixSocket> ends = new ArrayList<>();
    private final EventPoll events = EventPoll.create();
    private final PendingClients guests = new PendingClients(events, PATIENCE);

    @AfterEach
    void close() {
        guests.close();
        ends.forEach(UnixSocket::close);
        events.close();
    }

    /** Returns the client's end. */
    private UnixSocket add(long tag, long since) {
        UnixSocket.Pair pair = UnixSocket.pair();
        ends.add(pair.right());
        guests.add(new PendingClients.Guest(pair.left(), pair.left().peer(), null, since), tag);
        return pair.right();
    }

    private static boolean isHungUpOn(UnixSocket client) {
        return client.drain() < 0;
    }

    @Test
    void shouldHangUpOnAClientThatIsSilentForTooLong() {
        UnixSocket old = add(1, 0);
        UnixSocket young = add(2, 1);
        guests.dropSilent(PATIENCE - 1);
        assertThat(isHungUpOn(old)).isFalse();
        guests.dropSilent(PATIENCE);
        assertThat(isHungUpOn(old)).isTrue();
        assertThat(isHungUpOn(young)).isFalse();
        assertThat(guests.take(1)).isEmpty();
        assertThat(guests.take(2)).isPresent();
    }

    @Test
    void shouldHangUpOnTheOldestWhenThereAreTooMany() {
        UnixSocket oldest = add(0, 0);
        for (int i = 1; i < PendingClients.MOST; i++) {
            add(i, 0);
        }
        assertThat(isHungUpOn(oldest)).isFalse();
        UnixSocket last = add(PendingClients.MOST, 0);
        assertThat(guests.size()).isEqualTo(PendingClients.MOST);
        assertThat(isHungUpOn(oldest)).isTrue();
        assertThat(isHungUpOn(last)).isFalse();
    }

    @Test
    void shouldHangUpOnAGuestThatCannotBeWatched() {
        UnixSocket.Pair pair = UnixSocket.pair();
        ends.add(pair.right());
        EventPoll closed = EventPoll.create();
        closed.close();
        PendingClients unable = new PendingClients(closed, PATIENCE);
        assertThrown(
                IllegalStateException.class,
                () -> unable.add(
                        new PendingClients.Guest(pair.left(), pair.left().peer(), null, 0), 1));
        assertThat(isHungUpOn(pair.right())).isTrue();
        assertThat(unable.size()).isZero();
    }

    @Test
    void shouldBeDroppedByAServerThatGoesOnServing() {
        ServerSpec spec = TestSpecs.server(
                new ServerSpec.Service<>(
                        ServiceDefinition.of(Echo.class),
                        ServiceDefinition.of(Echo.class).dispatcher(new EchoService())),
                TestSpecs.threads(Dispatch.direct(), 1, Duration.ofSeconds(1)),
                4,
                directory);
        try (ShmServer server = ShmServer.start(spec, Duration.ofSeconds(1).toNanos())) {
            Path door = RuntimeDirectory.at(directory)
                    .instances("/test/echo")
                    .getFirst()
                    .socket();
            List<UnixSocket> silent = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                UnixSocket client = UnixSocket.connect(door);
                ends.add(client);
                silent.add(client);
            }
            Echo echo = connect(Echo.class);
            Await.until("the server hangs up", () -> silent.stream().allMatch(PendingClientsTest::isHungUpOn));
            assertThat(echo.add(1, 2)).isEqualTo(3);
            assertThat(server.connections()).isEqualTo(1);
        }
    }
}
