package dev.rackcall.cp.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.shm.waiting.Spinning;
import dev.rackcall.testkit.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An agent process whose device fails. */
class AgentPumpTest {
    @TempDir
    private Path folder;

    @Test
    void shouldSayThatItsDeviceFailed() throws InterruptedException {
        CountDownLatch told = new CountDownLatch(1);
        AtomicBoolean broken = new AtomicBoolean();
        AgentPump pump = new AgentPump(
                () -> {
                    if (broken.get()) {
                        throw new IllegalStateException("the device is gone");
                    }
                    return true;
                },
                () -> {},
                told::countDown);
        pump.start();
        broken.set(true);
        Await.latch(told);
        pump.close();
    }

    @Test
    void shouldMakeSpinningThreadsYieldOnlyWhileItIsAwake() {
        AtomicBoolean waits = new AtomicBoolean(true);
        AgentPump pump = new AgentPump(waits::get, () -> {}, () -> {});
        pump.start();
        Await.until("the pump polls", Spinning::isBesidePolling);
        waits.set(false);
        Await.until("the pump sleeps", () -> !Spinning.isBesidePolling());
        waits.set(true);
        pump.wake();
        Await.until("the pump polls again", Spinning::isBesidePolling);
        pump.close();
        Await.until("the pump has ended", () -> !Spinning.isBesidePolling());
    }

    /** A fault that a tenant causes by cutting its file. */
    @Test
    void shouldGoOnWhenMemoryIsMissing() throws InterruptedException {
        CountDownLatch goesOn = new CountDownLatch(3);
        CountDownLatch told = new CountDownLatch(1);
        AgentPump pump = new AgentPump(
                () -> {
                    goesOn.countDown();
                    throw new InternalError("a fault occurred in an unsafe memory access operation");
                },
                () -> {},
                told::countDown);
        pump.start();
        Await.latch(goesOn);
        // A device that has failed for good ends the agent.
        Await.latch(told);
        pump.close();
    }

    @Test
    void shouldEndItsTenantsAndAdmitNoneOnceTheDeviceFailed() throws Exception {
        AtomicBoolean broken = new AtomicBoolean();
        try (Hosts hosts = new Hosts(16)) {
            Agent agent = hosts.agent("agent");
            AgentServer server = hosts.keep(AgentServer.open(agent, folder, () -> {
                if (broken.get()) {
                    throw new IllegalStateException("the device is gone");
                }
                return agent.poll();
            }));
            try (Tenant tenant = AgentFolder.join(folder, "t")) {
                assertThat(tenant.ping(Await.BOUND)).isTrue();
                assertThat(server.awaitFailure(Duration.ZERO)).isFalse();

                broken.set(true);

                assertThat(server.awaitFailure(Await.BOUND)).isTrue();
                Hosts.waitUntil("the tenant to be gone", () -> server.tenants() == 0);
                Hosts.fails(Kind.UNREACHABLE, "", () -> AgentFolder.join(folder, "late"));
            }
        }
    }
}
