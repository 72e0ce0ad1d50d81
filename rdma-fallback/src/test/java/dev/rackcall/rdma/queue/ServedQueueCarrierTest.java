package dev.rackcall.rdma.queue;

/** The same with agents that serve as other processes do. */
class ServedQueueCarrierTest extends QueueCarrierTest {
    @Override
    QueueHosts hosts() {
        return QueueHosts.served();
    }
}
