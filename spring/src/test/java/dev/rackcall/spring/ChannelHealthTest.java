package dev.rackcall.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** The health of an application, some of whose servers accept its connections and do not answer. */
@Timeout(600)
class ChannelHealthTest {
    private static final String GOOD = "/shop/cart";
    private static final List<String> SILENT = List.of("/shop/silent", "/shop/mute", "/shop/still");

    @TempDir
    private Path folder;

    private final ApplicationContextRunner shop = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(RackcallAutoConfiguration.class, RackcallHealthAutoConfiguration.class))
            .withUserConfiguration(Basket.class)
            .withPropertyValues("rackcall.client.timeout=10m")
            // Only the health check's own bound can end its wait.
            .withBean(RpcChannelCustomizer.class, () -> (_, channel) -> channel.connectTimeout(Duration.ofMinutes(10)));

    private static Health health(ApplicationContext context) {
        return context.getBean(HealthIndicator.class).health();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, String> channels(Health health) {
        return (Map<String, String>) health.getDetails().get("channels");
    }

    private static long attempts() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("rackcall-health"))
                .count();
    }

    @Test
    void shouldReachAGoodServerBesideSilentOnes() throws Exception {
        try (ChildJvm silent = ChildJvm.of(SilentServerChild.class, folder, SILENT.get(0), SILENT.get(1), SILENT.get(2))
                .start()) {
            silent.awaitLine("serving");
            silent.pause();
            shop.withPropertyValues("rackcall.runtime-folder=" + folder).run(context -> {
                RackcallChannels open = context.getBean(RackcallChannels.class);
                SILENT.forEach(open::channel);
                open.channel(GOOD);

                // A busy machine may need a second check to reach the good server.
                Await.equal(
                        "the good server's channel",
                        "READY",
                        () -> channels(health(context)).get(GOOD));
                Health health = health(context);
                assertThat(health.getStatus()).isEqualTo(Status.DOWN);
                assertThat(channels(health)).hasSize(4).containsEntry(GOOD, "READY");
                for (String name : SILENT) {
                    assertThat(channels(health).get(name))
                            .contains("UNAVAILABLE", name, "no server has answered within PT2S");
                }
                assertThat(attempts()).as("attempts after several checks").isEqualTo(SILENT.size());

                silent.resume();
                Await.equal("the health", Status.UP, () -> health(context).getStatus());
                Await.equal("attempts", 0L, ChannelHealthTest::attempts);
            });
        }
    }
}
