package dev.rackcall.perf.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.perf.harness.NoReplyException;
import dev.rackcall.perf.harness.PublishedFile;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.verbs.soft.FaultPlan;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ping-pong when its other side or a connection is late or has ended. */
class SoftPingPongTest {
    /** More than the send queue has places. */
    private static final int MANY = 400;

    @TempDir
    private Path directory;

    private final FaultPlan farFaults = FaultPlan.none();
    private VerbsEnd near;
    private VerbsEnd far;

    @BeforeEach
    void meet() throws Exception {
        near = new VerbsEnd(SoftDevice.of("near", SoftOptions.local()), true);
        far = new VerbsEnd(SoftDevice.of("far", SoftOptions.local().withFaults(farFaults)), true);
        near.announce(directory.resolve("near"));
        far.announce(directory.resolve("far"));
        near.connect(directory.resolve("far"));
        far.connect(directory.resolve("near"));
    }

    @AfterEach
    void part() {
        near.close();
        far.close();
    }

    private void awaitAtFar(long number) {
        while (far.poll() != number) {
            Thread.yield();
        }
    }

    /** Acknowledgements come by another connection than replies, and may be more than a queue's length behind. */
    @Test
    void shouldGoOnWhenAcknowledgementsAreLate() {
        near.send(1);
        awaitAtFar(1);
        farFaults.latency(Duration.ofMillis(300));
        for (int number = 2; number <= MANY; number++) {
            near.send(number);
        }
        awaitAtFar(MANY);
    }

    private SoftPingPong.Client impatient(Path failure) {
        return new SoftPingPong.Client("ping-pong", near, failure, 1);
    }

    @Test
    void shouldSayWhyTheServerSideHasEnded() throws Exception {
        Path failure = Files.writeString(directory.resolve("failure"), "it misses room");
        assertThatThrownBy(() -> impatient(failure).call(7))
                .isInstanceOf(NoReplyException.class)
                .hasMessageContainingAll(
                        "ping-pong: no reply to 8", "the last one was to 0", "server side has ended: it misses room");
    }

    @Test
    void shouldSayThatNothingCameAtAll() {
        assertThatThrownBy(() -> impatient(directory.resolve("none")).call(7))
                .isInstanceOf(NoReplyException.class)
                .hasMessageContainingAll("no reply to 8", "one of both messages is lost");
    }

    @Test
    void shouldTellTheClientWhatEndedTheServerSide() throws Exception {
        SoftPingPong subject = new SoftPingPong("soft-pingpong", true);
        Files.writeString(directory.resolve("verbs-client"), "no announcement");
        try (ServerSide server = subject.serve(directory)) {
            assertThat(server).isNotNull();
            PublishedFile.await(directory.resolve("verbs-failure"));
        }
        assertThat(directory.resolve("verbs-failure")).content().isNotBlank();
    }
}
