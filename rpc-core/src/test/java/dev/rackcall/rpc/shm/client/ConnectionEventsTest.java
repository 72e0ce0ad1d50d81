package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.shm.waiting.WaitCounts;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConnectionEventsTest extends RpcFixture {
    private static final String WAIT = "dev.rackcall.Wait";
    private static final String LOST = "dev.rackcall.ConnectionLost";
    private static final String POLLER_WAIT = "dev.rackcall.PollerWait";
    private static final String CLIENT_LOST = "dev.rackcall.ClientLost";
    private static final int NO_CONTROL_OP = 77;

    /** The runtime folder ends with its last server. */
    @TempDir
    private Path records;

    @Test
    void shouldRecordSleepsAndLostServers() throws Exception {
        RpcServer server = serve(Echo.class, new EchoService());
        Path file = records.resolve("events.jfr");
        try (Recording recording = new Recording()) {
            recording.enable(WAIT).withThreshold(Duration.ZERO);
            recording.enable(LOST);
            recording.start();
            RpcChannel channel = open(channel(Echo.class).waiting(WaitStrategy.blocking()));
            long before = WaitCounts.of(WaitCounts.Kind.ANSWER_SLEPT);
            // A blocking caller sleeps, unless the answer was there before it looked.
            Await.until("a call that sleeps", () -> {
                channel.stub(Echo.class).add(1, 2);
                return WaitCounts.of(WaitCounts.Kind.ANSWER_SLEPT) > before;
            });
            server.close();
            // Not its state, which changes as soon as the server drains.
            Await.until("the end of the connection", () -> channel.routes().isEmpty());
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file);
        assertThat(events)
                .filteredOn(event -> event.getEventType().getName().equals(WAIT))
                .isNotEmpty()
                .allSatisfy(event -> {
                    assertThat(event.getString("channel")).isEqualTo("/test/echo");
                    assertThat(event.getString("what")).isEqualTo("ANSWER");
                    assertThat(event.getString("reason")).isEqualTo("BLOCKING");
                });
        assertThat(events)
                .filteredOn(event -> event.getEventType().getName().equals(LOST))
                .singleElement()
                .satisfies(event -> {
                    assertThat(event.getString("transport")).isIn("PROCESS", "HOST");
                    assertThat(event.getString("reason")).contains("/test/echo", "its server is gone");
                });
    }

    @Test
    void shouldRecordSleepsOfPollersAndLostClients() throws Exception {
        Path file = records.resolve("events.jfr");
        try (Recording recording = new Recording()) {
            recording.enable(POLLER_WAIT).withThreshold(Duration.ZERO);
            recording.enable(CLIENT_LOST);
            recording.start();
            RpcServer server = serve(Echo.class, new EchoService());
            RpcChannel channel = open(Echo.class);
            assertThat(channel.stub(Echo.class).add(1, 2)).isEqualTo(3);
            long before = WaitCounts.of(WaitCounts.Kind.REQUEST_SLEPT);
            Await.until("a poller's sleep", () -> WaitCounts.of(WaitCounts.Kind.REQUEST_SLEPT) > before);
            channel.close();
            Await.equal("connections", 0, server::connections);
            HostileConnection hostile = keep(HostileConnection.open(directory, "/test/echo", new HashMap<>()));
            hostile.publish(SlotLayout.word(0, NO_CONTROL_OP, SlotLayout.CONTROL, 8));
            assertThat(hostile.await()).isEqualTo(HostileConnection.End.CLOSED);
            Await.equal("connections", 0, server::connections);
            // The server closes this one itself.
            open(Echo.class);
            server.close();
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file);
        assertThat(events)
                .filteredOn(event -> event.getEventType().getName().equals(POLLER_WAIT))
                .isNotEmpty()
                .allSatisfy(event -> {
                    assertThat(event.getInt("connections")).isBetween(0, 1);
                    assertThat(event.getInt("rings")).isBetween(0, 1);
                    assertThat(event.getThread().getJavaName()).startsWith("rackcall-poll");
                });
        String self = "pid " + ProcessHandle.current().pid() + " ";
        assertThat(events)
                .filteredOn(event -> event.getEventType().getName().equals(CLIENT_LOST))
                .allSatisfy(event -> {
                    assertThat(event.getString("channel")).isEqualTo("/test/echo");
                    assertThat(event.getString("client")).startsWith(self);
                    assertThat(event.getString("transport")).isIn("PROCESS", "HOST");
                })
                .extracting(event -> event.getString("reason"))
                .satisfiesExactlyInAnyOrder(
                        closed -> assertThat(closed).isEqualTo("it has closed the channel, or is gone"),
                        broken -> assertThat(broken).startsWith("it broke the protocol: "));
    }
}
