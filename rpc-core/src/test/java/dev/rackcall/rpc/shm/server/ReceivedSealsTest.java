package dev.rackcall.rpc.shm.server;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.sandbox.SealException;
import org.junit.jupiter.api.Test;

/** A hostile client may ask to join a holder as often as it likes; only the first time costs the server anything. */
class ReceivedSealsTest {
    @Test
    void shouldRefuseASecondJoinBeforeAnythingIsMadeForIt() {
        // What a refusal does not touch is not there.
        ReceivedSeals seals = new ReceivedSeals(null, null, null, null);
        assertThatCode(seals::expectJoin).doesNotThrowAnyException();
        assertThatThrownBy(seals::expectJoin)
                .isInstanceOf(SealException.class)
                .hasMessageContaining("held from its beginning, or not at all");
    }
}
