package dev.rackcall.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CallEventsTest {
    private static final String CLIENT = "dev.rackcall.ClientCall";
    private static final String SERVER = "dev.rackcall.ServerCall";

    @TempDir
    private Path folder;

    private final CallEvents calls = new CallEvents();

    @Test
    void shouldRecordCallsThatTakeLongerThanTheThreshold() throws IOException {
        List<RecordedEvent> events;
        try (Recording recording = new Recording();
                RpcServer server = RpcServer.builder()
                        .runtimeFolder(folder.resolve("run"))
                        .meter(calls)
                        .service(Shop.class, new Shop.OneGood())
                        .start();
                RpcChannel channel = RpcChannel.builder("/test/shop")
                        .runtimeFolder(folder.resolve("run"))
                        .meter(calls)
                        .open()) {
            recording.enable(CLIENT).withThreshold(Duration.ZERO);
            recording.enable(SERVER).withThreshold(Duration.ofHours(1));
            assertThat(calls.isEnabled()).isFalse();
            recording.start();
            assertThat(calls.isEnabled()).isTrue();
            Shop shop = channel.stub(Shop.class);
            assertThat(shop.price("tea")).isEqualTo(350);
            assertThatThrownBy(() -> shop.price("sugar")).isInstanceOf(RpcException.class);
            server.close();
            recording.stop();
            assertThat(calls.isEnabled()).isFalse();
            Path file = folder.resolve("calls.jfr");
            recording.dump(file);
            // JFR records every event class of an application, such as a long wait for a busy processor.
            events = RecordingFile.readAllEvents(file).stream()
                    .filter(event ->
                            Set.of(CLIENT, SERVER).contains(event.getEventType().getName()))
                    .toList();
        }
        assertThat(events)
                .extracting(event -> event.getEventType().getName() + " " + event.getString("method") + " "
                        + event.getString("status") + " " + event.getString("transport"))
                .containsExactly(
                        CLIENT + " /test/shop/price OK PROCESS", CLIENT + " /test/shop/price NOT_FOUND PROCESS");
    }
}
