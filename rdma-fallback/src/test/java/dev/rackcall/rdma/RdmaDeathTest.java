package dev.rackcall.rdma;

import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.FreePort;
import java.net.URI;

/** {@code kill -9} of a peer over RDMA. */
class RdmaDeathTest extends DeathContract {
    private static final int KILLS = Math.max(2, Integer.getInteger("rackcall.kills", 0) / 20);

    @Override
    int kills() {
        return KILLS;
    }

    @Override
    URI mortal() {
        return URI.create("rdma://127.0.0.1:" + FreePort.find());
    }

    @Override
    URI anyPort() {
        return URI.create("rdma://127.0.0.1:0");
    }

    @Override
    ChildJvm child(String what, URI address) {
        return ChildJvm.start(EchoChild.class, directory, what, address.toString());
    }

    @Override
    void checkThatNoConnectionIsLeft() {
        Await.equal("devices that are open", 0, Faults::openDevices);
    }

    @Override
    void checkThatNothingIsLeft() {
        checkThatNoConnectionIsLeft();
    }
}
