package dev.rackcall.rdma;

import dev.rackcall.rdma.queue.QueueHosts;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.net.URI;
import org.junit.jupiter.api.AfterEach;

/** {@code kill -9} of a peer over virtual queues, where no kernel connection reports the death. */
class QueueDeathTest extends DeathContract {
    private static final int KILLS = Math.max(1, Integer.getInteger("rackcall.kills", 0) / 20);

    final QueueHosts hosts = hosts();

    QueueHosts hosts() {
        return QueueHosts.open();
    }

    @AfterEach
    void end() {
        hosts.close();
    }

    @Override
    int kills() {
        return KILLS;
    }

    @Override
    URI mortal() {
        return URI.create("vq://mortal:7");
    }

    @Override
    URI anyPort() {
        return hosts.anyPort();
    }

    @Override
    ChildJvm child(String what, URI address) {
        return ChildJvm.start(
                QueueChild.class,
                directory,
                what,
                address.toString(),
                "mortal",
                hosts.meta().address().toString());
    }

    /** The server's hub goes on. */
    @Override
    void checkThatNoConnectionIsLeft() {}

    @Override
    void checkThatNothingIsLeft() {
        Await.equal("open hubs", 0, QueueHosts::openHubs);
    }
}
