package dev.rackcall.cp.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.cp.Arrivals;
import dev.rackcall.cp.Child;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.MessagePort;
import dev.rackcall.cp.MortalAgent;
import dev.rackcall.cp.MortalTenant;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.cp.client.HostileSession;
import dev.rackcall.cp.session.SessionFiles;
import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.cp.session.SessionMessage;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.NamedFile;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import dev.rackcall.testkit.Usage;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The agent process: admission of tenants, and the consequences of deaths. */
class AgentServerTest {
    @TempDir
    private Path folder;

    /** Longer than a newcomer waits for a reply. */
    private static final Duration LONG = Duration.ofMinutes(1);

    @RegisterExtension
    final Hosts hosts = new Hosts(16);

    private final WorkRequest request = WorkRequest.create(1, 64);
    private Agent agent;
    private Agent peer;
    private MemoryRegion theirs;

    @BeforeEach
    void open() {
        peer = hosts.agent("peer");
        theirs = Hosts.region(peer.admit("t"), 4096);
        // No queue pairs for busy peers, since the tests count queue pairs.
        agent = hosts.agent("agent", options -> options.withOwnQueuePairs(0, 1));
    }

    private AgentServer serve() {
        return hosts.keep(AgentServer.open(agent, folder));
    }

    private Child mortalAgent() throws InterruptedException {
        return Child.start(MortalAgent.class, hosts.meta().address(), "outer", folder);
    }

    private Tenant join() {
        return hosts.keep(AgentFolder.join(folder, "t"));
    }

    private void works(Tenant tenant) {
        MemoryRegion ours = Hosts.region(tenant, 64);
        try (VirtualQueue queue = tenant.connect(peer.host())) {
            Hosts.does(queue, Hosts.write(theirs, ours, 1));
        }
        ours.close();
    }

    @Test
    void shouldUseTheAgentProcessOrOneOfItsOwn() {
        Hosts.fails(Kind.UNREACHABLE, "start ./rackcall agent", () -> AgentFolder.join(folder, "t"));
        int known = hosts.meta().hosts();
        try (Tenant embedded = AgentFolder.join(folder, "t", () -> hosts.unkept("own"))) {
            assertThat(hosts.meta().hosts()).isEqualTo(known + 1);
            assertThat(embedded.host()).isEqualTo(HostId.named("own"));
            assertThat(embedded.isHardware()).isFalse();
            works(embedded);
        }
        Hosts.waitUntil("its agent to be closed with it", () -> hosts.meta().hosts() == known);
        AgentServer server = serve();
        try (Tenant tenant = AgentFolder.join(folder, "t", () -> hosts.unkept("own"))) {
            assertThat(hosts.meta().hosts()).isEqualTo(known);
            assertThat(server.tenants()).isEqualTo(1);
            assertThat(tenant.host()).isEqualTo(agent.host());
            assertThat(tenant.isHardware()).isFalse();
            assertThat(tenant.ping(Await.BOUND)).isTrue();
            works(tenant);
            works(tenant);
        }
        Hosts.waitUntil("the tenant to be gone", () -> server.tenants() == 0);
    }

    @Test
    void shouldRefuseStrangersAndOtherVersions() {
        AgentServer server = hosts.keep(AgentServer.open(agent, folder, Uid.current() + 1, 8192));
        Hosts.fails(Kind.REFUSED, "works for user " + (Uid.current() + 1), () -> AgentFolder.join(folder, "t"));
        server.close();
        serve();
        Path socket = SessionFiles.socketIn(folder);
        int mine = SessionLayout.VERSION;
        Hosts.fails(Kind.REFUSED, "speaks version " + mine + " of", () -> HostileSession.join(socket, mine + 1));
        Hosts.fails(Kind.REFUSED, "another agent works for", () -> AgentServer.open(peer, folder));
        Tenant tenant = join();
        works(tenant);
    }

    @Test
    void shouldRefuseAnAgentThatSpeaksAnotherVersion() throws Exception {
        int mine = SessionLayout.VERSION;
        Path socket = SessionFiles.socketIn(folder);
        try (UnixSocket door = UnixSocket.listen(socket, 4)) {
            CompletableFuture<Boolean> agentOfTomorrow = Concurrently.start(() -> {
                Optional<UnixSocket> tenant = door.accept();
                while (tenant.isEmpty()) {
                    Thread.yield();
                    tenant = door.accept();
                }
                try (UnixSocket visitor = tenant.get()) {
                    SessionMessage hello = SessionMessage.read(visitor.receive(Duration.ofSeconds(20))
                            .orElseThrow()
                            .bytes());
                    SessionMessage welcome = new SessionMessage(
                            mine + 1,
                            SessionMessage.ANSWER,
                            hello.number(),
                            SessionMessage.newBody().putInt(7).flip());
                    visitor.send(welcome.toBytes());
                    return hello.version() == mine;
                }
            });

            Hosts.fails(
                    Kind.REFUSED,
                    "speaks version " + (mine + 1) + ", this process version " + mine + "; update the older side",
                    () -> AgentFolder.join(folder, "t"));
            assertThat(agentOfTomorrow.get()).isTrue();
        }
    }

    @Test
    void shouldSayThatItHasAsManyTenantsAsItMay() {
        AgentServer server = hosts.keep(AgentServer.open(agent, folder, new Admission(1, Duration.ofMillis(20))));
        Tenant only = join();
        for (int i = 0; i < 3; i++) {
            Hosts.fails(
                    Kind.QUOTA_EXCEEDED,
                    "it has 1 tenants, as many as it may, and none has left within 20 ms; end some",
                    () -> AgentFolder.join(folder, "one too many"));

            assertThat(server.tenants()).isEqualTo(1);
            works(only);
        }
    }

    /** Processes that have just ended must not keep new ones out. */
    @Test
    void shouldLetANewTenantWaitForThePlaceOfOneThatLeaves() throws Exception {
        Admission admission = new Admission(1, LONG);
        hosts.keep(AgentServer.open(agent, folder, admission));
        Tenant first = AgentFolder.join(folder, "first");
        CompletableFuture<Tenant> second = Concurrently.start(() -> AgentFolder.join(folder, "second"));
        Hosts.waitUntil("the second one to wait", () -> admission.waiting() == 1);
        first.close();
        try (Tenant tenant = second.get()) {
            works(tenant);
        }
    }

    @Test
    void shouldAdmitManyThatComeAndGoInQuickSuccession() {
        AgentServer server = hosts.keep(AgentServer.open(agent, folder, new Admission(2, LONG)));
        for (int i = 0; i < 50; i++) {
            try (Tenant tenant = AgentFolder.join(folder, "one of many")) {
                works(tenant);
            }
        }
        Hosts.waitUntil("all to be gone", () -> server.tenants() == 0);
    }

    /** More newcomers than are allowed at a time. */
    @Test
    void shouldListenAgainWhenManySilentClientsHaveGone() {
        serve();
        for (int round = 0; round < 2; round++) {
            List<UnixSocket> silent = new ArrayList<>();
            for (int i = 0; i < 80; i++) {
                silent.add(UnixSocket.connect(SessionFiles.socketIn(folder)));
            }
            silent.forEach(UnixSocket::close);
            try (Tenant tenant = AgentFolder.join(folder, "t")) {
                works(tenant);
            }
        }
    }

    @Test
    void shouldEndWhileANewTenantWaitsForAPlace() throws Exception {
        Admission admission = new Admission(1, LONG);
        AgentServer server = hosts.keep(AgentServer.open(agent, folder, admission));
        Tenant only = join();
        CompletableFuture<Tenant> second = Concurrently.start(() -> AgentFolder.join(folder, "t"));
        Hosts.waitUntil("the second one to wait", () -> admission.waiting() == 1);
        server.close();
        assertThatThrownBy(second::get).hasMessageContaining("ended during the hello");
        assertThat(only.ping(Await.BOUND)).isFalse();
    }

    @Test
    void shouldRefuseMemoryThatCouldHarmIt() {
        hosts.keep(AgentServer.open(agent, folder, Uid.current(), 8192));
        Tenant tenant = join();
        EnumSet<Access> rights = EnumSet.of(Access.LOCAL_WRITE);
        Hosts.fails(
                Kind.REFUSED,
                "is not sealed",
                () -> tenant.share(NamedFile.create(folder.resolve("unsealed"), 4096), rights));
        Hosts.fails(Kind.QUOTA_EXCEEDED, "may share 8192", () -> tenant.allocate(12_288, rights));
        Hosts.fails(
                Kind.UNSUPPORTED,
                "another process",
                () -> tenant.register(Arena.ofAuto().allocate(64), rights));
        MemoryRegion first = tenant.allocate(8192, rights);
        Hosts.fails(Kind.QUOTA_EXCEEDED, "shares 8192", () -> tenant.allocate(1, rights));
        first.close();
        works(tenant);
    }

    @Test
    void shouldSayThatThereIsNoMemoryForARegion() {
        long tooMuch = 1L << 44;
        hosts.keep(AgentServer.open(agent, folder, Uid.current(), tooMuch));
        Tenant tenant = join();
        Hosts.fails(
                Kind.QUOTA_EXCEEDED,
                "no memory for " + tooMuch + " bytes more of tenant t, which shares 0: cannot reserve",
                () -> tenant.share(SharedFile.memfd("greedy", tooMuch), EnumSet.of(Access.LOCAL_WRITE)));
        works(tenant);
    }

    @Test
    void shouldSeeNoAgentWhereThereCanBeNone() throws Exception {
        assertThat(AgentFolder.isServed(folder)).isFalse();
        assertThat(AgentFolder.isServed(Files.createFile(folder.resolve("no folder"))))
                .isFalse();
        serve();
        assertThat(AgentFolder.isServed(folder)).isTrue();
        Tenant tenant = AgentFolder.join(folder, "t");
        assertThat(tenant.isClosed()).isFalse();
        tenant.close();
        assertThat(tenant.isClosed()).isTrue();
    }

    @Test
    void shouldSurviveGarbageOfOneTenant() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        AgentServer server = serve();
        try (Tenant tenant = AgentFolder.join(folder, "t")) {
            for (int i = 0; i < 20; i++) {
                try (UnixSocket socket = UnixSocket.connect(SessionFiles.socketIn(folder))) {
                    byte[] noise = new byte[1 + random.nextInt(2000)];
                    random.nextBytes(noise);
                    socket.send(noise);
                }
            }
            for (int i = 0; i < 5; i++) {
                try (HostileSession hostile = HostileSession.join(SessionFiles.socketIn(folder), "hostile " + i)) {
                    hostile.scribble(peer.host(), random);
                    works(tenant);
                }
            }
            assertThat(agent.recoveries()).as("seed %d", seed).isZero();
        }
        Hosts.waitUntil("all to be gone, seed " + seed, () -> server.tenants() == 0);
    }

    @Test
    void shouldCleanUpAfterATenantThatIsKilled() throws Exception {
        AgentServer server = serve();
        int queuePairs = agent.queuePairs();

        Tenant peers = peer.admit("reader");
        MemoryRegion landing = Hosts.region(peers, 64);
        try (Tenant living = AgentFolder.join(folder, "living");
                Child child = Child.start(MortalTenant.class, folder, "peer", theirs.address(), theirs.remoteKey())) {
            VirtualQueue before = peers.connect(agent.host());
            Hosts.does(
                    before,
                    request.read(child.address(), child.key())
                            .from(landing, 0, 8)
                            .id(1)
                            .signaled());
            child.close();
            Hosts.waitUntil("the dead tenant to be removed", () -> server.tenants() == 1);
            VirtualQueue after = peers.connect(agent.host());
            Hosts.waitUntil("the record of its region to expire", () -> {
                if (after.state() == QueuePairState.READY_TO_SEND) {
                    after.push(request.read(child.address(), child.key())
                            .from(landing, 0, 8)
                            .id(2)
                            .signaled());
                    return Hosts.pop(after, 1).getFirst().status() == CompletionStatus.REMOTE_ACCESS_ERROR;
                }
                return false;
            });
            works(living);
            assertThat(agent.queuePairs()).isEqualTo(queuePairs);
        }
    }

    @Test
    void shouldComeBackAfterTheAgentWasKilled() throws Exception {
        try (Child first = mortalAgent();
                Tenant tenant = AgentFolder.join(folder, "t")) {
            MemoryRegion ours = tenant.allocate(4096, EnumSet.allOf(Access.class));
            ours.memory().set(ValueLayout.JAVA_LONG, 0, 77);
            VirtualQueue queue = tenant.connect(peer.host());
            WorkRequest write = WorkRequest.create(1, 0);
            write.write(theirs.address(), theirs.remoteKey()).from(ours, 0, 8).signaled();
            Hosts.does(queue, write.id(1));
            first.close();
            assertHasEnded(tenant);
            Hosts.waitUntil("the queue to fail", () -> queue.state() == QueuePairState.ERROR);
            assertThat(queue.failure().orElseThrow()).contains("has ended");
            Hosts.fails(Kind.QUEUE_FAILED, "has ended", () -> queue.push(write));
            try (Child second = mortalAgent()) {
                try (VirtualQueue again = tenant.connect(peer.host())) {
                    // The region has other keys now, which the request must name.
                    write.write(theirs.address() + 8, theirs.remoteKey()).from(ours, 0, 8);
                    Hosts.does(again, write.id(2).signaled());
                    assertThat(theirs.memory().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(77);
                }
                assertThat(queue.state()).isEqualTo(QueuePairState.ERROR);
                queue.close();
                assertThat(second.process().isAlive()).isTrue();
            }
        }
    }

    /** A stopped agent is slow, not dead: nothing is lost. */
    @Test
    void shouldGoOnWithAnAgentThatWasStopped() throws Exception {
        try (Child child = mortalAgent();
                Tenant tenant = AgentFolder.join(folder, "t")) {
            MemoryRegion ours = Hosts.region(tenant, 64);
            VirtualQueue queue = tenant.connect(peer.host());
            ours.memory().set(ValueLayout.JAVA_LONG, 0, 99);
            child.process().pause();
            try {
                assertThat(queue.push(Hosts.write(theirs, ours, 1))).isTrue();
                assertThat(tenant.ping(Duration.ofMillis(50))).isFalse();
                assertThat(queue.pop(Completions.create(1))).isZero();
                assertThat(queue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
            } finally {
                child.process().resume();
            }
            Hosts.succeeds(queue, 1);
            assertThat(theirs.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(99);
            works(tenant);
        }
    }

    @Test
    void shouldFlushWhatWasUnderWayWhenTheAgentEnds() throws Exception {
        AtomicBoolean standsStill = new AtomicBoolean();
        CountDownLatch stands = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        AgentServer server = hosts.keep(AgentServer.open(agent, folder, () -> {
            if (standsStill.get()) {
                stands.countDown();
                Await.latch(goesOn);
            }
            return agent.poll();
        }));
        Agent slow = hosts.agent("slow");
        MemoryRegion far = Hosts.region(slow.admit("t"), 64);
        Tenant tenant = join();
        MemoryRegion ours = Hosts.region(tenant, 64);
        VirtualQueue queue = tenant.connect(slow.host());
        hosts.drop(slow);
        // Otherwise the first request may fail before the last is pushed, which the queue would then refuse.
        standsStill.set(true);
        Await.latch(stands);
        try {
            for (int i = 0; i < 4; i++) {
                assertThat(queue.push(Hosts.write(far, ours, i))).isTrue();
            }
        } finally {
            goesOn.countDown();
        }
        server.close();
        assertThat(Hosts.pop(queue, 4).stream().map(Hosts.Done::id)).containsExactly(0L, 1L, 2L, 3L);
        assertThat(queue.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void shouldTellAPortThatItsAgentHasEndedAndBindItAtTheNextOne() {
        AgentServer first = serve();
        Tenant tenant = join();
        MemoryRegion incoming = tenant.allocate(4096, EnumSet.of(Access.LOCAL_WRITE));
        MessagePort port = tenant.bind(7);
        Arrivals arrivals = Arrivals.create(1);
        first.close();
        assertHasEnded(tenant);
        Hosts.fails(Kind.QUEUE_FAILED, "has ended", () -> port.receive(arrivals));
        Hosts.fails(Kind.QUEUE_FAILED, "bind it again", () -> port.give(incoming, 0, 64, 1));
        port.close();
        serve();
        try (MessagePort again = tenant.bind(7)) {
            assertThat(again.give(incoming, 0, 64, 2)).isTrue();
            VirtualQueue sender = peer.admit("sender").connect(agent.host());
            assertThat(sender.push(request.sendWithImmediate(7).inline(5).id(3).signaled()))
                    .isTrue();
            Hosts.waitUntil("the message", () -> again.receive(arrivals) == 1);
            assertThat(arrivals.id(0)).isEqualTo(2);
            assertThat(incoming.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(5);
            Hosts.succeeds(sender, 3);
        }
    }

    /** The old keys belong to an agent that has ended. */
    @Test
    void shouldNotConnectUntilAllRegionsAreRegisteredAgain() {
        AgentServer first = serve();
        Tenant tenant = join();
        MemoryRegion tooLarge = tenant.allocate(8192, EnumSet.of(Access.LOCAL_WRITE));
        first.close();
        assertHasEnded(tenant);
        hosts.keep(AgentServer.open(agent, folder, Uid.current(), 4096));
        for (int i = 0; i < 2; i++) {
            Hosts.fails(Kind.QUOTA_EXCEEDED, "may share 4096", () -> tenant.connect(peer.host()));
        }
        tooLarge.close();
        works(tenant);
    }

    @Test
    void shouldAnswerAPingWhileAnotherThreadWaitsForTheNextAgent() throws Exception {
        AgentServer server = serve();
        Tenant tenant = join();
        server.close();
        Waiting waiting = waitForTheNextAgent(tenant);
        assertThat(tenant.ping(Duration.ofMillis(1))).isFalse();
        assertThat(waiting.thread.join(Duration.ofMillis(300))).as("has ended").isFalse();
        waiting.awaitEnd();
    }

    private static void assertHasEnded(Tenant tenant) {
        assertThat(tenant.ping(Await.BOUND)).isFalse();
    }

    /** A thread that waits for an agent until its patience ends. */
    private record Waiting(Thread thread, FutureTask<?> connecting) {
        void awaitEnd() throws Exception {
            connecting.get(Await.BOUND.toSeconds(), TimeUnit.SECONDS);
        }
    }

    private Waiting waitForTheNextAgent(Tenant tenant) {
        assertHasEnded(tenant);
        FutureTask<?> connecting = new FutureTask<>(Executors.callable(
                () -> Hosts.fails(Kind.UNREACHABLE, "no agent process listens", () -> tenant.connect(peer.host()))));
        Thread thread = Thread.ofPlatform().start(connecting);
        Hosts.waitUntil("it waits", () -> thread.getState() == Thread.State.TIMED_WAITING);
        return new Waiting(thread, connecting);
    }

    @Test
    void shouldShareAFileThatThisProcessHasMadeItself() {
        serve();
        Tenant tenant = join();
        SharedFile file = SharedFile.memfd("mine", 8192);
        try (Mapping mine = file.map()) {
            MemoryRegion region = tenant.share(file, EnumSet.of(Access.LOCAL_WRITE));
            assertThat(region.byteSize()).isEqualTo(8192);
            region.memory().set(ValueLayout.JAVA_INT, 4096, 5);
            assertThat(mine.memory().get(ValueLayout.JAVA_INT, 4096)).isEqualTo(5);
        }
    }

    @Test
    void shouldRegisterAMappingThatStaysTheCallersForOneLifeOfTheAgent() throws Exception {
        AgentServer first = serve();
        Tenant tenant = join();
        SharedFile file = SharedFile.memfd("mine-for-a-life", 8192);
        try (Mapping mine = file.map()) {
            assertThatThrownBy(() -> tenant.register(file, mine.memory().asSlice(0, 64), EnumSet.allOf(Access.class)))
                    .hasMessageContaining("64 bytes are not all of");
            MemoryRegion ofTheFirst = tenant.register(file, mine.memory(), EnumSet.allOf(Access.class));
            writes(tenant, ofTheFirst, mine.memory(), 6);
            first.close();
            assertHasEnded(tenant);
            // This agent's quota does not allow the region twice.
            AgentServer second = hosts.keep(AgentServer.open(agent, folder, Uid.current(), 8192));
            MemoryRegion again = tenant.register(file, mine.memory(), EnumSet.allOf(Access.class));
            file.close();
            Hosts.waitUntil("all descriptors of it to be closed", () -> Usage.descriptors("mine-for-a-life") == 0);
            writes(tenant, again, mine.memory(), 7);
            ofTheFirst.close();
            writes(tenant, again, mine.memory(), 8);
            again.close();
            assertThat(second.tenants()).isOne();
        }
    }

    private void writes(Tenant tenant, MemoryRegion region, MemorySegment memory, long value) {
        assertThat(region.memory()).isEqualTo(memory);
        memory.set(ValueLayout.JAVA_LONG, 4096, value);
        try (VirtualQueue queue = tenant.connect(peer.host())) {
            request.write(theirs.address(), theirs.remoteKey()).from(region, 4096, 8);
            Hosts.does(queue, request.id(1).signaled());
        }
        assertThat(theirs.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(value);
    }

    @Test
    void shouldReportTheEndToListenersForMessages() throws Exception {
        AgentServer server = serve();
        Tenant tenant = join();
        AtomicInteger told = new AtomicInteger();
        MessagePort port = tenant.bind(7, told::incrementAndGet);
        tenant.bind(8, () -> {
            throw new IllegalStateException("a test's");
        });
        AtomicInteger toldTheClosed = new AtomicInteger();
        tenant.bind(9, toldTheClosed::incrementAndGet).close();
        CountDownLatch last = new CountDownLatch(1);
        // Callbacks run in the order of binding.
        tenant.bind(10, last::countDown);
        server.close();
        Await.latch(last);
        assertThat(told).hasValue(1);
        assertThat(toldTheClosed).hasValue(0);
        Hosts.fails(Kind.QUEUE_FAILED, "has ended", () -> port.receive(Arrivals.create(1)));
    }

    @Test
    void shouldCloseARegionWhileAnotherThreadWaitsForTheNextAgent() throws Exception {
        AgentServer server = serve();
        Tenant tenant = join();
        MemoryRegion region = tenant.allocate(4096, EnumSet.of(Access.LOCAL_WRITE));
        server.close();
        Waiting waiting = waitForTheNextAgent(tenant);
        region.close();
        assertThat(waiting.thread.isAlive()).as("still waits").isTrue();
        waiting.awaitEnd();
    }

    /** Closing must not fail and must not wait. */
    @Test
    void shouldCloseARegionWhileItsAgentStandsStillAndDies() throws Exception {
        try (Child child = mortalAgent();
                Tenant tenant = AgentFolder.join(folder, "t")) {
            MemoryRegion first = tenant.allocate(4096, EnumSet.of(Access.LOCAL_WRITE));
            MemoryRegion second = tenant.allocate(4096, EnumSet.of(Access.LOCAL_WRITE));
            child.process().pause();
            first.close();
            child.close();
            second.close();
        }
    }
}
