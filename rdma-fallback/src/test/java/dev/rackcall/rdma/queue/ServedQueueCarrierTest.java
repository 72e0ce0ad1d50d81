package dev.rackcall.rdma.queue;

/** The same with agents that are used as other processes' are. */
class ServedQueueCarrierTest extends QueueCarrierTest {
    @Override
    QueueHosts hosts() {
        return QueueHosts.served();
    }
}
