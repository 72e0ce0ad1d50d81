package dev.rackcall.rdma;

import dev.rackcall.rdma.queue.QueueHosts;
import java.net.URI;
import org.junit.jupiter.api.AfterEach;

/** Calls over virtual queues while the network of their hosts is cut, and connections end otherwise. */
class QueueFaultTest extends FaultContract {
    private static final int FAULTS = Math.max(10, Integer.getInteger("rackcall.kills", 0) / 2);

    final QueueHosts hosts = hosts();

    QueueHosts hosts() {
        return QueueHosts.open();
    }

    @AfterEach
    void close() {
        hosts.close();
    }

    @Override
    URI anyPort() {
        return hosts.anyPort();
    }

    @Override
    int faults() {
        return FAULTS;
    }

    @Override
    void inject() {
        if (random.nextBoolean()) {
            hosts.faults().cutConnections();
        } else {
            hosts.endConnections(random.nextBoolean());
        }
    }

    @Override
    int connections() {
        return hosts.connections();
    }

    @Override
    void checkThatNothingIsLeft() {
        until("no hub is open", () -> QueueHosts.openHubs() == 0);
    }
}
