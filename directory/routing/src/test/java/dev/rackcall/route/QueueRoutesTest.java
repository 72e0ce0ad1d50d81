package dev.rackcall.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.cp.server.AgentServer;
import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Route.Kind;
import dev.rackcall.rpc.Route.State;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Library.Page;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.os.file.OwnerLock;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.FreePort;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.soft.FaultPlan;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.io.File;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Which of two carriers calls use over a network, virtual queues or a queue pair, and how that changes when one fails
 * and recovers. Servers are other processes.
 */
class QueueRoutesTest extends RoutesFixture {
    /** Of the device of this process's agent; queue pairs of connections of their own are another device's. */
    private final FaultPlan faults = FaultPlan.withSeed(1);

    private MetaServer meta;
    private Tenant tenant;

    @BeforeEach
    void join() {
        meta = keep(MetaServer.open(SoftDevice.of("meta", SoftOptions.local()), 16, Duration.ofMinutes(1)));
        tenant = tenantOf("here");
        QueueSettings.use(tenant);
    }

    @AfterEach
    void forget() {
        QueueSettings.forget(tenant);
    }

    private Tenant tenantOf(String host) {
        return keep(agentOf(host).admit(host));
    }

    /** For a server of this process that listens in that host's name. */
    private void useFor(String host) {
        Tenant its = tenantOf(host);
        QueueSettings.use(host, its);
        keep(() -> QueueSettings.forget(its));
    }

    private Agent agentOf(String host) {
        return keep(Agent.open(
                SoftDevice.of(host, SoftOptions.local().withFaults(faults)),
                AgentOptions.of(HostId.named(host)).withMeta(meta::address)));
    }

    /** A server that listens at both kinds of addresses. */
    private ChildJvm server(String name) throws InterruptedException {
        return child(name, name, meta.address().toString());
    }

    private RpcChannel channel() {
        return channel(members());
    }

    private RpcChannel channel(URI directory) {
        return channel(directory, PATIENCE);
    }

    private RpcChannel channel(URI directory, Duration connectTimeout) {
        return keep(channelOf("here", directory).connectTimeout(connectTimeout).open());
    }

    /** A directory that names one server as the test wants it. */
    private URI naming(Endpoint endpoint) {
        byHand().announce(ChannelName.of(CHANNEL), endpoint);
        return byHandAddress();
    }

    @Test
    void shouldTakeVirtualQueuesBeforeAQueuePairAndSayWhy() throws Exception {
        server("one");
        assertThat(named().rdma()).isEmpty();
        assertThat(named().tcp()).extracting(URI::getScheme).containsExactlyInAnyOrder("vq", "soft");
        Await.equal("hosts that the meta server knows", 2, meta::hosts);
        RpcChannel channel = channel();

        // At once.
        assertThat(channel.stub(Numbers.class).who()).isEqualTo("one");
        assertThat(kinds(channel)).containsExactly(Kind.TCP_QUEUES);
        assertThat(route(channel, Kind.TCP_QUEUES).address()).matches("vq://host-of-one:[0-9]+");
        // Calls use a route before the others are described.
        Await.equal(
                "the state of the route over TCP",
                State.NOT_NEEDED,
                () -> route(channel, Kind.TCP).state());
        assertThat(route(channel, Kind.TCP).reason())
                .isEqualTo("virtual queues work, which are there at once and share queue pairs");
        assertThat(route(channel, Kind.TCP).address()).startsWith("soft://127.0.0.1:");
        for (Kind kind : List.of(Kind.RDMA_QUEUES, Kind.RDMA)) {
            assertThat(route(channel, kind).state()).isEqualTo(State.IMPOSSIBLE);
            assertThat(route(channel, kind).reason()).isEqualTo("its server announces no RDMA device");
        }
        try (Scope scope = channel.newScope()) {
            Page page = scope.create(Page.class);
            page.number(7);
            assertThat(channel.stub(Numbers.class).sum(page)).isEqualTo(7);
        }
    }

    @Test
    void shouldGoOnByAQueuePairWhileVirtualQueuesFailAndReturn() throws Exception {
        server("one");
        RpcChannel channel = channel();
        Numbers numbers = channel.stub(Numbers.class);
        awaitCalls(channel, Kind.TCP_QUEUES);

        faults.portDown();
        awaitCalls(channel, Kind.TCP);
        Await.until(
                "the reason", () -> route(channel, Kind.TCP_QUEUES).reason().contains("port 1 of soft:here is DOWN"));
        assertThat(route(channel, Kind.TCP_QUEUES).state()).isEqualTo(State.FAILED);

        faults.portUp();
        awaitCalls(channel, Kind.TCP_QUEUES);
        assertThat(numbers.who()).isEqualTo("one");
    }

    @Test
    void shouldGoOnByAQueuePairWhenItsAgentIsGoneAndReturnWithAnother() throws Exception {
        server("one");
        RpcChannel channel = channel();
        Numbers numbers = channel.stub(Numbers.class);
        assertThat(numbers.who()).isEqualTo("one");

        tenant.close();
        awaitCalls(channel, Kind.TCP);
        Await.until("the reason", () -> route(channel, Kind.TCP_QUEUES).reason().contains("tenant here is closed"));

        QueueSettings.forget(tenant);
        tenant = tenantOf("here-again");
        QueueSettings.use(tenant);
        awaitCalls(channel, Kind.TCP_QUEUES);
    }

    /** The agent of this host is another process, which ends. No call waits for the next agent. */
    @Test
    void shouldGoOnByAQueuePairAsLongAsThereIsNoAgentProcess() throws Exception {
        server("one");
        Path runtime = Files.createDirectory(folder.resolve("agent"));
        Agent agent = agentOf("served");
        AgentServer first = AgentServer.open(agent, runtime);
        Tenant joined = keep(AgentFolder.join(runtime, "routes"));
        QueueSettings.use(joined);
        try {
            RpcChannel channel = channel();
            awaitCalls(channel, Kind.TCP_QUEUES);

            first.close();
            awaitCalls(channel, Kind.TCP);
            Await.until(
                    "the reason",
                    () -> route(channel, Kind.TCP_QUEUES).reason().contains("agent process of this host has ended"));
            assertThat(route(channel, Kind.TCP_QUEUES).state()).isEqualTo(State.IMPOSSIBLE);

            keep(AgentServer.open(agent, runtime));
            awaitCalls(channel, Kind.TCP_QUEUES);
        } finally {
            QueueSettings.forget(joined);
        }
    }

    /**
     * The agent of this host is another process that does not respond (it was stopped, or is just starting). A route
     * that works does not wait for it.
     */
    @Test
    void shouldTakeAQueuePairWhereTheAgentProcessSaysNothing() throws Exception {
        server("one");
        Path runtime = Files.createDirectory(folder.resolve("agent"));
        AgentServer first = AgentServer.open(agentOf("served"), runtime);
        Tenant joined = keep(AgentFolder.join(runtime, "routes"));
        first.close();
        // The first connection of a process over the network loads and compiles a lot of code; here a later one has
        // half of the time.
        Endpoint both = named();
        List<URI> pairs = both.tcp().stream()
                .filter(address -> address.getScheme().equals("soft"))
                .toList();
        assertThat(channel(naming(Endpoint.of("one", both.host(), both.fingerprint())
                                .withTcp(pairs)))
                        .stub(Numbers.class)
                        .who())
                .isEqualTo("one");
        QueueSettings.use(joined);
        try (OwnerLock _ = OwnerLock.tryAcquire(runtime.resolve("control-plane.owner"))
                        .orElseThrow();
                UnixSocket _ = UnixSocket.listen(runtime.resolve("control-plane.agent"), 64)) {
            // The other half is spent on the agent.
            RpcChannel channel = channel(members(), Duration.ofSeconds(10));
            assertThat(channel.stub(Numbers.class).who()).isEqualTo("one");
            assertThat(kinds(channel)).containsExactly(Kind.TCP);
            Await.until(
                    "the reason",
                    () -> route(channel, Kind.TCP_QUEUES).reason().contains("has not admitted this tenant within"));
        } finally {
            QueueSettings.forget(joined);
        }
    }

    /** The tenant's maximum, so that an existing connection gets no third region. */
    private void takeAllRegions() {
        assertThatThrownBy(() -> {
                    while (true) {
                        tenant.allocate(64, EnumSet.of(Access.LOCAL_WRITE));
                    }
                })
                .hasMessageContaining("may have no more");
    }

    private static void assertWants(RpcChannel channel) {
        try (Scope scope = channel.newScope()) {
            Page page = scope.create(Page.class);
            assertThat(catchThrowableOfType(
                            RpcException.class,
                            () -> channel.stub(Numbers.class).sum(page)))
                    .hasMessageContaining("tenant here has 1024 memory regions");
        }
    }

    /** Whether an object reaches server "one"; a call may fail, but with UNAVAILABLE only. */
    private static boolean isPassed(RpcChannel channel, Numbers numbers) {
        try (Scope scope = channel.newScope()) {
            Page page = scope.create(Page.class);
            page.number(7);
            return numbers.sum(page) == 7;
        } catch (RpcException e) {
            assertThat(e.code()).isEqualTo(Status.Code.UNAVAILABLE);
            return false;
        }
    }

    /** Whether calls use a queue pair since the connection over virtual queues has ended for lack of a region. */
    private static boolean lackedRegions(RpcChannel channel) {
        // One look at all routes.
        List<Route> routes = channel.routes();
        return routes.stream().anyMatch(each -> each.kind() == Kind.TCP && each.state() == State.USED)
                && routes.stream()
                        .anyMatch(each -> each.kind() == Kind.TCP_QUEUES
                                && each.state() == State.FAILED
                                && each.reason()
                                        .startsWith("its connection has ended: tenant here has 1024 memory regions"));
    }

    /** Connecting would succeed, and the next object that is passed would end the connection again. */
    @Test
    void shouldGoOnByAQueuePairWhenAConnectionOverVirtualQueuesWantsMoreRegionsThanThereAre() throws Exception {
        server("one");
        RpcChannel channel = channel();
        awaitCalls(channel, Kind.TCP_QUEUES);
        takeAllRegions();

        assertWants(channel);
        Numbers numbers = channel.stub(Numbers.class);
        // Virtual queues are connected again after 5 s, perhaps before the first connection by a queue pair. The next
        // object ends that connection, too, and the time after which they are tried doubles.
        Await.until(
                "calls by a queue pair, and the reason", () -> isPassed(channel, numbers) && lackedRegions(channel));
    }

    @Test
    void shouldConnectOverVirtualQueuesAgainForSmallCallsWhereThereIsNoOtherWay() throws Exception {
        server("one");
        Endpoint both = named();
        List<URI> only = both.tcp().stream()
                .filter(address -> address.getScheme().equals("vq"))
                .toList();
        RpcChannel channel = channel(
                naming(Endpoint.of("one", both.host(), both.fingerprint()).withTcp(only)));
        Numbers numbers = channel.stub(Numbers.class);
        assertThat(numbers.who()).isEqualTo("one");
        takeAllRegions();

        assertWants(channel);
        Await.until("an answer", () -> isAnswered(numbers, "one"));
        assertThat(kinds(channel)).containsExactly(Kind.TCP_QUEUES);
    }

    /** The reverse: a client without the address for queue pairs notices nothing. */
    @Test
    void shouldNotNeedTheAddressOfQueuePairs() throws Exception {
        server("one");
        Endpoint both = named();
        List<URI> dead = both.tcp().stream()
                .map(address -> address.getScheme().equals("soft") ? URI.create("soft://127.0.0.1:1") : address)
                .toList();
        RpcChannel channel = channel(
                naming(Endpoint.of("one", both.host(), both.fingerprint()).withTcp(dead)));

        assertThat(channel.stub(Numbers.class).who()).isEqualTo("one");
        assertThat(kinds(channel)).containsExactly(Kind.TCP_QUEUES);
    }

    @Test
    void shouldGoToAnotherServerWhenOneIsKilled() throws Exception {
        ChildJvm one = server("one");
        ChildJvm two = server("two");
        RpcChannel channel = channel();
        Numbers numbers = channel.stub(Numbers.class);
        Await.equal("servers in use", List.of(Kind.TCP_QUEUES, Kind.TCP_QUEUES), () -> kinds(channel));

        one.kill();
        for (int i = 0; i < 20; i++) {
            assertThat(numbers.whoAgain()).isIn("one", "two");
        }
        Await.equal("servers in use", List.of(Kind.TCP_QUEUES), () -> kinds(channel));
        assertThat(numbers.whoAgain()).isEqualTo("two");
        two.kill();
        RpcException e = catchThrowableOfType(RpcException.class, numbers::whoAgain);
        assertThat(e.code()).isEqualTo(Status.Code.UNAVAILABLE);
    }

    @Test
    void shouldTakeAQueuePairWhereThisProcessHasNoAgent() throws Exception {
        server("one");
        QueueSettings.forget(tenant);
        RpcChannel channel = channel();

        assertThat(channel.stub(Numbers.class).who()).isEqualTo("one");
        assertThat(kinds(channel)).containsExactly(Kind.TCP);
        assertThat(route(channel, Kind.TCP_QUEUES).state()).isEqualTo(State.IMPOSSIBLE);
        assertThat(route(channel, Kind.TCP_QUEUES).reason())
                .startsWith("this process takes no part in a control plane: no agent process serves in /")
                .endsWith(", and QueueSettings.use has named no other agent");
    }

    @Test
    void shouldDoWithoutTheModuleOfVirtualQueues() throws Exception {
        server("one");
        String classPath = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("krcore-cp"))
                .collect(Collectors.joining(File.pathSeparator));
        ChildJvm caller = keep(ChildJvm.of(NumbersCaller.class, members())
                .flags("-cp", classPath)
                .directory(folder.resolve("caller"))
                .start());

        assertThat(caller.awaitLine("ANSWER")).isEqualTo("ANSWER one");
        caller.awaitLine(
                "ROUTE virtual queues over TCP: IMPOSSIBLE: rackcall-rdma and rackcall-control-plane are not both on"
                        + " the class path here");
        caller.awaitLine("ROUTE software device over TCP: USED");
        caller.awaitLine("END");
    }

    @Test
    void shouldSayWhatAServerDoesNotListenAt() throws Exception {
        server("one");
        Endpoint both = named();
        Endpoint bare = Endpoint.of("one", both.host(), both.fingerprint());
        for (boolean queues : new boolean[] {true, false}) {
            List<URI> only = both.tcp().stream()
                    .filter(address -> address.getScheme().equals("vq") == queues)
                    .toList();
            URI directory = folder.resolve("only-" + queues).toUri();
            keep(Directory.open(directory)).announce(ChannelName.of(CHANNEL), bare.withTcp(only));
            RpcChannel channel = channel(directory);
            assertThat(channel.stub(Numbers.class).who()).isEqualTo("one");
            assertThat(kinds(channel)).containsExactly(queues ? Kind.TCP_QUEUES : Kind.TCP);
            Await.equal(
                    "the reason against the other route",
                    queues ? "its server listens at vq:// only" : "its server listens at no vq:// address",
                    () -> route(channel, queues ? Kind.TCP : Kind.TCP_QUEUES).reason());
        }
    }

    /** Both ends must have hardware devices, or both software devices; this host has no hardware device. */
    @Test
    void shouldTryNoServerWhoseVirtualQueuesAreThoseOfAnotherDevice() {
        long fingerprint = ServiceDefinition.of(Numbers.class).fingerprint();
        URI directory =
                naming(Endpoint.of("far", "host-z", fingerprint).withRdma(List.of(URI.create("vq://host-z:1"))));

        RpcException e = catchThrowableOfType(RpcException.class, () -> channel(directory));
        assertThat(e.code()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(e)
                .hasMessageContaining("virtual queues over RDMA: the control plane's agent here has no RDMA device")
                .hasMessageContaining("; RDMA: its server listens at vq:// only")
                .hasMessageContaining("virtual queues over TCP: its server listens by its RDMA device");
    }

    /**
     * A host with an RDMA device must announce another address to clients without one, at which a software device
     * listens.
     */
    @Test
    void shouldReachAServerOfAHostWithAnRdmaDeviceByASoftwareDeviceOverTcp() throws Exception {
        server("one");
        URI software = named().tcp().stream()
                .filter(address -> address.getScheme().equals("soft"))
                .findFirst()
                .orElseThrow();
        long fingerprint = ServiceDefinition.of(Numbers.class).fingerprint();
        RpcChannel channel = channel(naming(Endpoint.of("one", "host-z", fingerprint)
                .withRdma(List.of(URI.create("rdma://10.99.99.99:1")))
                .withTcp(List.of(software))));

        assertThat(channel.stub(Numbers.class).who()).isEqualTo("one");
        assertThat(kinds(channel)).containsExactly(Kind.TCP);
        assertThat(route(channel, Kind.RDMA).reason()).isEqualTo("this host has no RDMA device");
    }

    @Test
    void shouldNameEveryWayThatFailed() {
        long fingerprint = ServiceDefinition.of(Numbers.class).fingerprint();
        URI directory = naming(Endpoint.of("dead", "host-z", fingerprint)
                .withTcp(List.of(URI.create("vq://no-such-host:1"), URI.create("rdma://127.0.0.1:1"))));

        RpcException e = catchThrowableOfType(RpcException.class, () -> channel(directory));
        assertThat(e.code()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(e)
                .hasMessageContaining(
                        "virtual queues over TCP: no connection over virtual queues to vq://no-such-host:1")
                .hasMessageContaining("check that its agent runs")
                .hasMessageContaining("software device over TCP: no server is listening at rdma://127.0.0.1:1");
    }

    /** A server in this process that is reached by both carriers at the same time counts as one server. */
    @Test
    void shouldServeTheSameAtEachOfItsAddresses() {
        useFor("there");
        NumbersService service = new NumbersService("both");
        RpcServer server = keep(RpcServer.builder()
                .service(Numbers.class, service)
                .runtimeFolder(folder.resolve("there"))
                .listen(URI.create("rdma://127.0.0.1:0"))
                .listen(URI.create("vq://there:0"))
                .maxConnections(2)
                .start());
        assertThat(server.addresses()).extracting(URI::getScheme).containsExactly("rdma", "vq");
        assertThat(server.address()).isEqualTo(Optional.of(server.addresses().getFirst()));
        assertThat(server.toString()).contains(server.addresses().getLast().toString());
        for (URI address : server.addresses()) {
            RpcChannel channel = keep(RpcChannel.builder(CHANNEL)
                    .address(address)
                    .arenaQuota(4 << 20)
                    .open());
            assertThat(channel.stub(Numbers.class).who()).isEqualTo("both");
        }
        assertThat(server.connections()).isEqualTo(2);
        for (URI address : server.addresses()) {
            RpcException e = catchThrowableOfType(
                    RpcException.class,
                    () -> RpcChannel.builder(CHANNEL)
                            .address(address)
                            .arenaQuota(4 << 20)
                            .open());
            assertThat(e.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(e).hasMessageContaining("all 2 connections are taken");
        }
    }

    @Test
    void shouldListenNowhereIfItCannotListenAtOneOfItsAddresses() {
        URI taken = URI.create("rdma://127.0.0.1:" + FreePort.find());
        RpcServer first = keep(RpcServer.builder()
                .service(Numbers.class, new NumbersService("one"))
                .runtimeFolder(folder.resolve("one"))
                .listen(taken)
                .start());
        useFor("there");
        RpcServer.Builder second = RpcServer.builder()
                .service(Numbers.class, new NumbersService("two"))
                .runtimeFolder(folder.resolve("two"))
                .listen(URI.create("vq://there:7"))
                .listen(taken);

        assertThat(catchThrowableOfType(RpcException.class, second::start).code())
                .isEqualTo(Status.Code.FAILED_PRECONDITION);
        first.close();
        keep(second.start());
    }
}
