package dev.rackcall.rpc.death;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import org.junit.jupiter.api.Test;

/** A server of a pool whose process was stopped (SIGSTOP) for so long that another server took its door. */
class PoolPauseTest extends RpcFixture {
    private final TwoHosts hosts = keep(TwoHosts.create());

    private ChildJvm child(boolean exclusive) throws Exception {
        ChildJvm child = keep(ChildJvm.start(PoolServerChild.class, directory, hosts.path(), exclusive));
        child.awaitLine("serving");
        return child;
    }

    private RpcServer.Builder here() {
        return RpcServer.builder().service(Echo.class, new EchoService()).pool(hosts.first());
    }

    private RpcChannel open() {
        return open(RpcChannel.builder("/test/echo").pool(hosts.second()).waitForReady(Await.BOUND));
    }

    @Test
    void shouldServeOnAtAnotherDoor() throws Exception {
        ChildJvm child = child(false);
        child.pause();
        // Takes the door after a lease without a sign of life.
        RpcServer other = serve(here());
        child.resume();
        other.close();
        assertThat(open().stub(Echo.class).add(1, 2)).isEqualTo(3);
        assertThat(child.isAlive()).isTrue();
    }

    @Test
    void shouldEndIfItsNameBelongsToAnExclusiveServer() throws Exception {
        ChildJvm child = child(true);
        assertFails(Status.Code.ALREADY_EXISTS, here()::start).hasMessageContaining("pid %d of host 0", child.pid());
        child.pause();
        RpcServer other = serve(here().exclusive());
        child.resume();
        child.awaitLine("ended CLOSED");
        assertThat(open().stub(Echo.class).add(1, 2)).isEqualTo(3);
        assertThat(other.connections()).isOne();
    }
}
