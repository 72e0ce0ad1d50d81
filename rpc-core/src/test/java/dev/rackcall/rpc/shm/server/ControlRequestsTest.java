package dev.rackcall.rpc.shm.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.shm.protocol.ControlOp;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ControlRequestsTest {
    /** These change other calls of the connection, or what the poller alone reads; a pull runs users' code. */
    @Test
    void shouldKeepThePollerOnDutyForRequestsThatChangeItsState() {
        assertThat(IntStream.rangeClosed(ControlOp.CANCEL, ControlOp.LAST_CALL).filter(ControlRequests::needsDuty))
                .containsExactly(ControlOp.CANCEL, ControlOp.READ, ControlOp.LAST_CALL);
    }
}
