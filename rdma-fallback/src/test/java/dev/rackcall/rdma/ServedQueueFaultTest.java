package dev.rackcall.rdma;

import dev.rackcall.rdma.queue.QueueHosts;

/** The same where agents are other processes for those who use them; and those come and go, too. */
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
