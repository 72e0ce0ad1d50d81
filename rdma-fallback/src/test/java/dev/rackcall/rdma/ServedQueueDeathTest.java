package dev.rackcall.rdma;

import dev.rackcall.rdma.queue.QueueHosts;
import dev.rackcall.testkit.ChildJvm;
import java.net.URI;

/**
 * {@code kill -9} of a peer whose agent is another process and lives on. The peer finds the agent in the runtime
 * folder.
 */
class ServedQueueDeathTest extends QueueDeathTest {
    @Override
    QueueHosts hosts() {
        return QueueHosts.served();
    }

    @Override
    URI mortal() {
        return URI.create("vq://" + QueueHosts.SERVER + ":7");
    }

    @Override
    ChildJvm child(String what, URI address) {
        return ChildJvm.start(
                QueueChild.class,
                hosts.folder(what.equals("serve") ? QueueHosts.SERVER : QueueHosts.CLIENT),
                what,
                address.toString());
    }
}
