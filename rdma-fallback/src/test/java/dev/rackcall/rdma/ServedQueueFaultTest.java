package dev.rackcall.rdma;

import dev.rackcall.rdma.queue.QueueHosts;

/** The same with agents that serve as other processes do, and that come and go. */
class ServedQueueFaultTest extends QueueFaultTest {
    @Override
    QueueHosts hosts() {
        return QueueHosts.served();
    }

    @Override
    void inject() {
        if (random.nextBoolean()) {
            String host = random.nextBoolean() ? QueueHosts.CLIENT : QueueHosts.SERVER;
            hosts.closeDoor(host);
            hosts.openDoor(host);
        } else {
            super.inject();
        }
    }
}
