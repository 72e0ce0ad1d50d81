package dev.rackcall.cp.lane;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentInsides;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Queue pairs of busy peers: when they are connected, used and retired, and that requests do not notice. */
class OwnQueuePairTest {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final int MOST = 2;
    private static final long BUSY = 10;

    @RegisterExtension
    final Hosts hosts = new Hosts(16);

    private final WorkRequest request = WorkRequest.create(1, 0);
    private final Completions batch = Completions.create(16);
    private Agent client;
    private Tenant tenant;
    private MemoryRegion ours;
    private long looks;

    private record Server(Agent agent, MemoryRegion region) {}

    @BeforeEach
    void open() {
        // Only the test checks for busy peers; the agent's own threshold is out of reach.
        client = hosts.agent("client", options -> options.withOwnQueuePairs(MOST, Long.MAX_VALUE));
        tenant = client.admit("t");
        ours = Hosts.region(tenant, 4096);
    }

    private Server server(String name) {
        Agent agent = hosts.agent(name);
        return new Server(agent, Hosts.region(agent.admit("t"), 4096));
    }

    /** Pushes and pops this many WRITEs. */
    private void use(VirtualQueue queue, Server server, int count) {
        for (int i = 0; i < count; i++) {
            assertThat(pushed(queue, server, i)).isTrue();
            Hosts.succeeds(queue, i);
        }
    }

    private boolean pushed(VirtualQueue queue, Server server, long value) {
        int at = (int) (value % 64) * 8;
        ours.memory().set(ValueLayout.JAVA_LONG, at, value);
        return queue.push(
                request.write(server.region().address(), server.region().remoteKey())
                        .from(ours, at, 8)
                        .id(value)
                        .signaled());
    }

    /** Checks for busy peers, and waits until connections in progress have ended. */
    private OwnQueuePairs looked(OwnQueuePairs own) {
        own.look(AgentInsides.peers(client).all(), ++looks);
        Hosts.waitUntil("queue pairs to be connected", () -> !own.isMaking());
        return own;
    }

    private OwnQueuePairs own() {
        return hosts.keep(new Closing(new OwnQueuePairs(MOST, BUSY, AgentInsides.lanes(client)::own)))
                .own();
    }

    private record Closing(OwnQueuePairs own) implements AutoCloseable {
        @Override
        public void close() {
            own.close();
        }
    }

    @Test
    void shouldGiveBusyPeersAQueuePairAndTakeItFromTheOneThatRestsLongest() {
        OwnQueuePairs own = own();
        List<Server> servers = new ArrayList<>();
        List<VirtualQueue> queues = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            servers.add(server("server-" + i));
            queues.add(tenant.connect(servers.get(i).agent().host()));
        }
        List<Lane> shared = queues.stream().map(QueueLanes::lane).toList();
        int before = client.queuePairs();

        use(queues.get(0), servers.get(0), (int) BUSY - 1);
        looked(own);
        assertThat(QueueLanes.lane(queues.get(0))).as("not busy enough").isSameAs(shared.get(0));
        use(queues.get(0), servers.get(0), (int) BUSY);
        looked(own);
        Lane first = QueueLanes.lane(queues.get(0));
        assertThat(first).isNotSameAs(shared.get(0));
        use(queues.get(0), servers.get(0), 1);
        use(queues.get(1), servers.get(1), (int) BUSY);
        looked(own);
        Lane second = QueueLanes.lane(queues.get(1));
        assertThat(second).isNotSameAs(shared.get(1));
        assertThat(client.queuePairs()).isEqualTo(before + 2);

        // The maximum is two, and both were just used.
        use(queues.get(0), servers.get(0), 1);
        use(queues.get(1), servers.get(1), 1);
        use(queues.get(2), servers.get(2), (int) BUSY);
        looked(own);
        assertThat(QueueLanes.lane(queues.get(2))).isSameAs(shared.get(2));
        // Now the first has been idle for longer than the second.
        use(queues.get(1), servers.get(1), 1);
        looked(own);
        use(queues.get(2), servers.get(2), (int) BUSY);
        looked(own);
        assertThat(QueueLanes.lane(queues.get(2))).isNotSameAs(shared.get(2));
        assertThat(QueueLanes.lane(queues.get(0))).isSameAs(shared.get(0));
        assertThat(QueueLanes.lane(queues.get(1))).isSameAs(second);
        for (int i = 0; i < 3; i++) {
            use(queues.get(i), servers.get(i), 3);
        }
        looked(own);
        assertThat(own.count()).isEqualTo(MOST);
        Hosts.waitUntil("the retired queue pair to be closed", () -> {
            looked(own);
            return client.queuePairs() == before + 2;
        });
    }

    /** In the other tests the test checks for busy peers; here the agent does, once a second. */
    @Test
    void shouldBeMadeWithoutAnybodyAskingForThem() {
        Agent attentive = hosts.agent("attentive", options -> options.withOwnQueuePairs(1, 1));
        Server server = server("server");
        Tenant busy = attentive.admit("busy");
        MemoryRegion mine = Hosts.region(busy, 64);
        VirtualQueue queue = busy.connect(server.agent().host());
        Lane shared = QueueLanes.lane(queue);
        int before = attentive.queuePairs();
        WorkRequest count = Hosts.add(server.region(), mine, 0);
        long pushed = 0;
        while (QueueLanes.lane(queue) == shared || pushed < 10) {
            Hosts.does(queue, count.id(pushed++));
        }
        Hosts.does(queue, count.id(pushed++));
        assertThat(attentive.queuePairs()).isEqualTo(before + 1);
        assertThat(server.region().memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(pushed);
    }

    /** A server sees the numbers of one queue in push order, however often the queue changes its lane. */
    @Test
    void shouldNotReorderWhileLanesChangeUnderABusyQueue() throws Exception {
        changeLanes(2_000, false);
    }

    /** The same while another tenant's requests break the queue pairs that they share. */
    @Test
    void shouldNotReorderWhileQueuePairsBreakAndLanesChange() throws Exception {
        changeLanes(800, true);
    }

    private void changeLanes(int count, boolean isBreaking) throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        OwnQueuePairs own = own();
        Server server = server("server");
        VirtualQueue queue = tenant.connect(server.agent().host());
        LanePeer peer = QueueLanes.peer(queue);
        AtomicBoolean ended = new AtomicBoolean();
        List<String> wrong = new ArrayList<>();
        Thread watcher = Thread.ofPlatform().daemon().start(() -> {
            long last = 0;
            while (!ended.get()) {
                long now = (long) LONG.getVolatile(server.region().memory(), 0L);
                if (now < last) {
                    wrong.add(now + " after " + last);
                    return;
                }
                last = now;
                Thread.onSpinWait();
            }
        });
        Tenant breaker = client.admit("breaker");
        MemoryRegion theirs = Hosts.region(breaker, 64);
        int changes = 0;
        long pushed = 0;
        long popped = 0;
        long start = System.nanoTime();
        // In the last quarter the change is forced: on a busy machine many requests end between two checks.
        while (popped < count || (isBreaking && client.recoveries() == 0)) {
            while (pushed < count && pushed - popped < 12 && pushed(queue, server, pushed)) {
                pushed++;
            }
            int done = queue.pop(batch);
            for (int i = 0; i < done; i++) {
                assertThat(batch.status(i)).as("seed %d", seed).isEqualTo(CompletionStatus.SUCCESS);
                assertThat(batch.id(i)).as("seed %d", seed).isEqualTo(popped++);
            }
            boolean isLate = popped > 3 * count / 4;
            if ((random.nextInt(40) == 0 || (isLate && changes == 0)) && !own.isMaking()) {
                changes++;
                if (!own.release(peer)) {
                    own.look(List.of(peer), ++looks);
                }
            }
            if (isBreaking && (random.nextInt(200) == 0 || (isLate && client.recoveries() == 0))) {
                breaks(breaker, theirs, server);
            }
            assertThat(System.nanoTime() - start)
                    .as("%d of %d, seed %d, %s", popped, count, seed, queue.failure())
                    .isLessThan(Await.BOUND.toNanos());
        }
        ended.set(true);
        watcher.join();
        assertThat(wrong).as("seed %d", seed).isEmpty();
        assertThat(server.region().memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(count - 1L);
        assertThat(changes).as("seed %d", seed).isPositive();
        assertThat(queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        if (isBreaking) {
            assertThat(client.recoveries()).as("seed %d", seed).isPositive();
        }
    }

    /**
     * Breaks a queue pair: a request passes the check and fails at the peer, whose region is closed in the meantime.
     */
    private void breaks(Tenant breaker, MemoryRegion theirs, Server server) {
        MemoryRegion brief = Hosts.region(server.agent().admit("brief"), 64);
        WorkRequest read = Hosts.read(brief, theirs, 1);
        try (VirtualQueue bad = breaker.connect(server.agent().host())) {
            Hosts.waitUntil("room", () -> bad.push(read));
            assertThat(Hosts.pop(bad, 1).getFirst().status()).isEqualTo(CompletionStatus.SUCCESS);
            brief.close();
            Hosts.waitUntil("room", () -> bad.push(read));
            assertThat(Hosts.pop(bad, 1).getFirst().status()).isNotEqualTo(CompletionStatus.SUCCESS);
        }
    }

    @Test
    void shouldGoOnOverTheSharedLaneIfAQueuePairCannotBeMade() {
        OwnQueuePairs failing = new OwnQueuePairs(MOST, BUSY, peer -> {
            throw new IllegalStateException("the device has no more queue pairs");
        });
        Server server = server("server");
        VirtualQueue queue = tenant.connect(server.agent().host());
        Lane shared = QueueLanes.lane(queue);
        use(queue, server, (int) BUSY);
        looked(failing);
        assertThat(QueueLanes.lane(queue)).isSameAs(shared);
        assertThat(failing.count()).isZero();
        use(queue, server, (int) BUSY);
        looked(failing);
        use(queue, server, 1);
        assertThat(queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    /** The peer dies while its queue pair is being connected. */
    @Test
    void shouldEndQueuesToAPeerThatDiesWhileItIsTakenOver() throws Exception {
        OwnQueuePairs own = own();
        Server server = server("server");
        VirtualQueue queue = tenant.connect(server.agent().host());
        use(queue, server, (int) BUSY);
        own.look(AgentInsides.peers(client).all(), ++looks);
        hosts.drop(server.agent());
        Hosts.waitUntil("the queue to fail", () -> {
            if (queue.state() == QueuePairState.READY_TO_SEND) {
                try {
                    pushed(queue, server, 1);
                } catch (ControlPlaneException failedMeanwhile) {
                    // By another thread of the agent.
                    assertThat(failedMeanwhile.kind()).isEqualTo(Kind.QUEUE_FAILED);
                }
                queue.pop(batch);
            }
            return queue.state() == QueuePairState.ERROR;
        });
        Hosts.waitUntil("the connecting to end", () -> !own.isMaking());
    }
}
