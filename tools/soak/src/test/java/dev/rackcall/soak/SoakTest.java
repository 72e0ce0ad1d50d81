package dev.rackcall.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A short soak, one of the long tests. Property: {@code rackcall.seed}, which decides who dies when. */
class SoakTest {
    private static final Duration LENGTH = Duration.ofMinutes(1);

    @Test
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void shouldStayFlatAmongPeersThatDie() throws Exception {
        long seed = Long.getLong("rackcall.seed", System.nanoTime());
        try (Soak soak = new Soak(EnumSet.allOf(SoakTransport.class), seed)) {
            assertThat(soak.run(LENGTH)).as("seed %d", seed).isTrue();
        }
    }
}
