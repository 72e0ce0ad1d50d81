package dev.rackcall.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** A port that goes down and comes up again. */
@ParameterizedClass(name = "{0}")
@MethodSource("dev.rackcall.verbs.PortSwitch#all")
class PortContractTest {
    private static final Duration LONG = Await.BOUND;

    private final PortSwitch port;

    PortContractTest(PortSwitch port) {
        this.port = port;
    }

    @AfterEach
    void bringUp() {
        port.up().run();
    }

    private static void awaitState(Context context, PortState state) {
        Bench.waitUntil("the port is " + state, () -> context.port(1).state() == state);
    }

    private static void awaitEvent(Context context, AsyncEvent.Type type) {
        Optional<AsyncEvent> event = context.awaitEvent(LONG);
        while (event.isPresent() && event.get().type() != type) {
            event = context.awaitEvent(LONG);
        }
        assertThat(event).contains(new AsyncEvent(type, 1));
    }

    @Test
    void shouldReportThatItIsDownAndUpAgain() {
        try (Context context = port.device().open()) {
            context.requireUp(1);

            port.down().run();
            awaitState(context, PortState.DOWN);
            awaitEvent(context, AsyncEvent.Type.PORT_ERROR);
            assertThatThrownBy(() -> context.requireUp(1))
                    .isInstanceOfSatisfying(
                            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsErrno.ENETDOWN))
                    .hasMessageContainingAll("port 1 of " + port + " is DOWN", "plug it in");
            try (Context later = port.device().open()) {
                assertThat(later.port(1).state()).isEqualTo(PortState.DOWN);
            }

            port.up().run();
            awaitState(context, PortState.ACTIVE);
            awaitEvent(context, AsyncEvent.Type.PORT_ACTIVE);
            context.requireUp(1);
        }
    }

    @Test
    void shouldCarryMessagesOfAnEarlierConnection() throws Exception {
        try (Connected pair = new Connected(port.device())) {
            WorkRequest request = WorkRequest.create(1, 64);
            pair.b.write(request).inline(1).signaled();
            pair.succeed(request);

            port.down().run();
            awaitState(pair.a.context, PortState.DOWN);
            port.up().run();
            awaitState(pair.a.context, PortState.ACTIVE);
            pair.succeed(request);
        }
    }
}
