package dev.rackcall.cp.control;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.HostId;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MissingCallersTest {
    private static final int EPOCH = 7;
    private static final HostLife LIFE = new HostLife(HostId.named("a"), EPOCH);
    private static final long LEASE = MissingCallers.LEASE_NANOS;

    private final MissingCallers missing = new MissingCallers();

    /** A restarted meta server has an empty table at first. */
    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MAX_VALUE - 1})
    void shouldTakeAsGoneOnlyCallersThatAreMissingForALease(long now) {
        assertThat(missing.isGone(LIFE, Optional.empty(), now)).isFalse();
        assertThat(missing.isGone(LIFE, Optional.empty(), now + LEASE - 1)).isFalse();
        assertThat(missing.isGone(LIFE, Optional.empty(), now + LEASE)).isTrue();
    }

    @Test
    void shouldStartTheCountAgainForACallerThatCameBack() {
        assertThat(missing.isGone(LIFE, Optional.empty(), 0)).isFalse();
        assertThat(missing.isGone(LIFE, Optional.of(EPOCH), 1)).isFalse();
        assertThat(missing.isGone(LIFE, Optional.empty(), LEASE)).isFalse();
    }

    @Test
    void shouldTakeAnEarlierLifeAsGoneAtOnce() {
        assertThat(missing.isGone(LIFE, Optional.of(EPOCH + 1), 0)).isTrue();
    }
}
