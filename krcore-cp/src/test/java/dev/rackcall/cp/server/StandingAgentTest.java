package dev.rackcall.cp.server;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.MessagePort;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.cp.client.Patience;
import dev.rackcall.cp.session.SessionFiles;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An agent process that is stopped, or listens and never replies: each thread waits only within its own time. */
class StandingAgentTest {
    private static final Duration SHORT = Duration.ofMillis(100);
    /** Longer than any wait in these tests. */
    private static final Duration LONG = Duration.ofMinutes(5);

    @TempDir
    Path folder;

    private final Hosts hosts = new Hosts(16);
    private final CountDownLatch goesOn = new CountDownLatch(1);
    private final CountDownLatch stands = new CountDownLatch(1);
    private volatile boolean standsStill;

    @AfterEach
    void close() throws Exception {
        goesOn.countDown();
        hosts.close();
    }

    /** An agent whose pump stops while {@link #standsStill}. */
    private AgentServer serve(Agent agent) {
        return hosts.keep(AgentServer.open(agent, folder, () -> {
            if (standsStill) {
                stands.countDown();
                Await.latch(goesOn);
                standsStill = false;
            }
            return agent.poll();
        }));
    }

    /** Stops the pump until {@link #goesOn}; requests made from now on wait for that. */
    private void standStill() throws InterruptedException {
        standsStill = true;
        Await.latch(stands);
    }

    /** Listens without ever replying; the kernel accepts connections. */
    private void listenInSilence() {
        hosts.keep(UnixSocket.listen(SessionFiles.socketIn(folder), 64));
    }

    /** Expects a timeout of less than the default of 5 s. */
    private static void fallsSilent(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        ControlPlaneException.class, e -> assertThat(e.kind()).isEqualTo(Kind.UNREACHABLE))
                .hasMessageMatching(".* within [0-9]{1,3} ms; is it stopped\\?");
    }

    private static Object patiently(Duration atMost, Runnable work) {
        return Patience.within(atMost, () -> {
            work.run();
            return work;
        });
    }

    private static void waitUntilItWaits(Thread thread) {
        Hosts.waitUntil("it waits", () -> thread.getState() == Thread.State.TIMED_WAITING);
    }

    @Test
    void shouldJoinAnAgentThatSaysNothingNoLongerThanTheCallerHasTime() {
        listenInSilence();
        fallsSilent(() -> patiently(SHORT, () -> AgentFolder.join(folder, "t")));
    }

    @Test
    void shouldTakeTheShorterOfTwoTimes() {
        listenInSilence();
        fallsSilent(() -> patiently(SHORT, () -> patiently(LONG, () -> AgentFolder.join(folder, "t"))));
        assertThat(Patience.left()).isPositive();
        assertThat(Patience.<Duration>within(Duration.ZERO, Patience::left)).isZero();
    }

    @Test
    void shouldEndEachWaitForAnAgentThatStandsStillWithTheCallersTime() throws Exception {
        Agent agent = hosts.agent("agent");
        serve(agent);
        try (Tenant tenant = AgentFolder.join(folder, "t")) {
            standStill();
            fallsSilent(() -> patiently(SHORT, () -> tenant.connect(agent.host())));
            fallsSilent(() -> patiently(SHORT, () -> tenant.connect(List.of(agent.host()))));
            fallsSilent(() -> patiently(SHORT, () -> tenant.bind(7)));
            goesOn.countDown();
            // Operations that timed out are undone, the port, too.
            Patience.within(LONG, () -> tenant.bind(7)).close();
        }
    }

    /** An interrupted thread cannot park: it would spin for its whole time. */
    @Test
    void shouldNotWaitForAnAgentThatStandsStillOnceInterrupted() throws Exception {
        Agent agent = hosts.agent("agent");
        serve(agent);
        try (Tenant tenant = AgentFolder.join(folder, "t")) {
            standStill();
            Thread.currentThread().interrupt();
            try {
                assertThatThrownBy(() -> tenant.bind(7))
                        .hasMessageContaining("interrupted while waiting for the agent process");
                assertThat(Thread.currentThread().isInterrupted()).isTrue();
            } finally {
                Thread.interrupted();
            }
            goesOn.countDown();
            Patience.within(LONG, () -> tenant.bind(7)).close();
        }
    }

    /** A listening socket without replies, like an agent that was stopped while it started. */
    @Test
    void shouldWaitForTheNextAgentWithItsOwnTimeAndDelayNoOtherThread() throws Exception {
        AgentServer first = serve(hosts.agent("agent"));
        try (Tenant tenant = AgentFolder.join(folder, "t")) {
            MemoryRegion region = tenant.allocate(4096, EnumSet.of(Access.LOCAL_WRITE));
            hosts.drop(first);
            assertThat(tenant.ping(Await.BOUND)).isFalse();
            listenInSilence();
            FutureTask<Object> patient = new FutureTask<>(() -> patiently(LONG, () -> tenant.bind(7)));
            Thread waiting = Thread.ofPlatform().daemon().start(patient);
            waitUntilItWaits(waiting);

            region.close();
            fallsSilent(() -> patiently(SHORT, () -> tenant.bind(8)));
            assertThat(tenant.isClosed()).isFalse();
            assertThat(patient).isNotDone();

            tenant.close();
            assertThrown(
                    ExecutionException.class,
                    () -> patient.get(Await.BOUND.toSeconds(), TimeUnit.SECONDS),
                    "tenant t is closed");
        }
    }

    /** More closes than the ring holds. */
    @Test
    void shouldCloseQueuesAndPortsWithoutWaitingForAnAgentThatStandsStill() throws Exception {
        int count = 600;
        Agent agent = hosts.agent("agent", options -> options.withQuota(count + 2, 16));
        Agent peer = hosts.agent("peer");
        serve(agent);
        try (Tenant tenant = AgentFolder.join(folder, "t")) {
            List<VirtualQueue> all = new ArrayList<>(tenant.connect(Collections.nCopies(count, peer.host())));
            MessagePort port = tenant.bind(7);
            standStill();
            all.forEach(VirtualQueue::close);
            port.close();
            goesOn.countDown();
            Patience.within(LONG, () -> tenant.bind(7)).close();
            // All places are free again.
            Patience.within(LONG, () -> tenant.connect(Collections.nCopies(count, peer.host())))
                    .forEach(VirtualQueue::close);
        }
    }
}
