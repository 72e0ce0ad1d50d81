package dev.rackcall.rpc.shm.server;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.rackcall.sandbox.SealException;
import org.junit.jupiter.api.Test;

/** A hostile client may ask to join a holder as often as it likes; only the first time costs the server anything. */
class ReceivedSealsTest {
    @Test
    void shouldRefuseASecondJoinBeforeAnythingIsMadeForIt() {
        // What a refusal does not touch is not there.
        ReceivedSeals seals = new ReceivedSeals(null, null, null, null);
        assertThatCode(seals::expectJoin).doesNotThrowAnyException();
        assertThrown(SealException.class, seals::expectJoin, "held from its beginning, or not at all");
    }
}
