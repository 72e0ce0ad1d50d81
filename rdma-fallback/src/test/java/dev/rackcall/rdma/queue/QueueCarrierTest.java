package dev.rackcall.rdma.queue;

import dev.rackcall.rdma.CarrierContract;
import dev.rackcall.rpc.spi.CarrierProvider;
import java.net.URI;
import java.time.Duration;

/** Two carriers over virtual queues between two hosts. */
class QueueCarrierTest extends CarrierContract {
    private final QueueHosts hosts = QueueHosts.open();

    @Override
    protected CarrierProvider provider() {
        return new QueueCarriers();
    }

    @Override
    protected URI anyPort() {
        return hosts.anyPort();
    }

    @Override
    protected void slow(Duration delay) {
        hosts.faults().latency(delay);
    }

    @Override
    protected int manyPieces() {
        return 300;
    }

    @Override
    protected void closeProvider() {
        hosts.faults().latency(Duration.ZERO);
        hosts.close();
    }
}
