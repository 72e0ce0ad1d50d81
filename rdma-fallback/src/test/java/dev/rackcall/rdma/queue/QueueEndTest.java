package dev.rackcall.rdma.queue;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** What an end keeps of its tenant once it is closed. */
class QueueEndTest {
    private static final int BYTES = 1 << 16;

    /** A registration does not hold the lock that closing takes. */
    @Test
    void shouldKeepNothingThatIsRegisteredAfterItsEnd() {
        try (QueueHosts hosts = QueueHosts.open();
                SharedFile file = SharedFile.memfd("rackcall-end", BYTES);
                Mapping mapping = file.map()) {
            QueueEnd end = new QueueEnd(hosts.clients(), new CarrierProvider.Memory(file, mapping.memory()), 0);
            end.close();
            long before = QueueHosts.mappings();
            assertThrown(VerbsException.class, () -> end.own(file), "closed");
            // Fewer if memory of an earlier test was still being unmapped.
            assertThat(QueueHosts.mappings()).isLessThanOrEqualTo(before);
        }
    }
}
