package dev.rackcall.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import dev.rackcall.directory.Announcement;
import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.directory.Limits;
import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Route.Kind;
import dev.rackcall.rpc.Route.State;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.balance.Subchannel;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.Library.Page;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.spi.Router;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Concurrently;
import dev.rackcall.testkit.FreePort;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.Test;

/** Which routes calls use, and how that changes when routes fail and recover. Each host has its own runtime folder. */
class RoutesTest extends RoutesFixture {
    private RpcChannel channel(String host, URI directory, Duration connectTimeout) {
        return keep(channelOf(host, directory).connectTimeout(connectTimeout).open());
    }

    /** A channel to two servers. */
    private RpcChannel channelToBoth(NumbersService one, NumbersService two) {
        serve("a", one);
        serve("b", two);
        RpcChannel channel = channel("c");
        Await.equal("servers in use", 2, () -> used(channel).size());
        return channel;
    }

    @Test
    void shouldTakeMemoryOfTheSameProcessAndSayWhyNothingElse() {
        serve("a", new NumbersService("one"));
        RpcChannel channel = channel("a");

        assertThat(channel.stub(Numbers.class).who()).isEqualTo("one");
        assertThat(kinds(channel)).containsExactly(Kind.PROCESS);
        // Calls use a route before the others are described.
        Await.until(
                "the other routes",
                () -> channel.routes().stream()
                        .map(route -> tuple(route.kind(), route.state()))
                        .toList()
                        .containsAll(List.of(
                                tuple(Kind.HOST, State.NOT_NEEDED),
                                tuple(Kind.POOL, State.IMPOSSIBLE),
                                tuple(Kind.RDMA, State.IMPOSSIBLE),
                                tuple(Kind.TCP, State.NOT_NEEDED))));
    }

    /** Their sockets lie in one runtime folder. */
    @Test
    void shouldReachEachOfSeveralServersOfOneHostByMemory() throws Exception {
        child("a", "one");
        child("a", "two");
        RpcChannel channel = channel("a");
        Numbers numbers = channel.stub(Numbers.class);
        Await.equal("routes", List.of(Kind.HOST, Kind.HOST), () -> kinds(channel));
        for (String name : List.of("one", "two")) {
            Await.until("an answer of " + name, () -> numbers.who().equals(name));
        }
    }

    @Test
    void shouldTakeMemoryElseTheNetworkAlsoWhenMemoryIsTakenAwayAndComesBack() throws Exception {
        child("a", "one");
        Path view = Files.createSymbolicLink(host("view-of-a"), host("a"));
        RpcChannel channel = channel("view-of-a");
        Numbers numbers = channel.stub(Numbers.class);
        assertThat(numbers.who()).isEqualTo("one");
        assertThat(kinds(channel)).containsExactly(Kind.HOST);
        RpcChannel far = channel("b");
        assertThat(far.stub(Numbers.class).who()).isEqualTo("one");
        assertThat(kinds(far)).containsExactly(Kind.TCP);
        assertThat(route(far, Kind.HOST).reason()).contains("no runtime folder " + host("b"));

        Files.delete(view);
        awaitCalls(channel, Kind.TCP);
        try (Scope scope = channel.newScope()) {
            Page page = scope.create(Page.class);
            page.number(7);
            assertThat(numbers.sum(page)).isEqualTo(7);

            Files.createSymbolicLink(host("view-of-a"), host("a"));
            awaitCalls(channel, Kind.HOST);

            // Objects that were built for the former route still use that route.
            page.number(8);
            assertThat(numbers.sum(page)).isEqualTo(8);
            Await.until(
                    "a route that is left",
                    () -> channel.routes().stream().anyMatch(route -> route.state() == State.LEAVING));
        }
        assertThat(numbers.who()).isEqualTo("one");
    }

    @Test
    void shouldRecordRouteChanges() throws Exception {
        List<String> changes = new CopyOnWriteArrayList<>();
        try (RecordingStream recording = new RecordingStream()) {
            recording.enable("dev.rackcall.RouteChange");
            recording.onEvent(
                    "dev.rackcall.RouteChange",
                    event -> changes.add(event.getString("channel") + " " + event.getString("host") + " "
                            + event.getString("transport")));
            recording.startAsync();
            child("a", "one");
            Path view = Files.createSymbolicLink(host("view-of-a"), host("a"));
            RpcChannel channel = channel("view-of-a");
            channel.stub(Numbers.class).who();
            Files.delete(view);
            awaitCalls(channel, Kind.TCP);
            recording.stop();
            assertThat(changes)
                    .containsExactly(channel.name() + " host-of-one HOST", channel.name() + " host-of-one TCP");
        }
    }

    /** A pool that two hosts share, and a network as well. */
    @Test
    void shouldTakeAPoolBeforeTheNetworkAndGoOnWithoutIt() throws Exception {
        TwoHosts hosts = keep(TwoHosts.create());
        RpcServer near = keep(server("a", new NumbersService("near"))
                .pool(hosts.first())
                .listen(ANY_PORT)
                .start());
        RpcChannel channel = keep(channelOf("b", members()).pool(hosts.second()).open());
        Numbers numbers = channel.stub(Numbers.class);
        assertThat(numbers.who()).isEqualTo("near");
        assertThat(kinds(channel)).containsExactly(Kind.POOL);
        RpcChannel poor = channel("c");
        assertThat(poor.stub(Numbers.class).who()).isEqualTo("near");
        assertThat(kinds(poor)).containsExactly(Kind.TCP);
        assertThat(route(poor, Kind.POOL).reason()).contains("this channel was given no pool");

        child("d", "far");
        Await.until("the farther one to be known", () -> isKnown(channel, "host-of-far"));
        assertThat(numbers.who()).isEqualTo("near");
        near.close();
        Await.until("the farther one", () -> numbers.whoAgain().equals("far"));
        assertThat(kinds(channel)).containsExactly(Kind.TCP);
        keep(server("a", new NumbersService("near again"))
                .pool(hosts.first())
                .listen(ANY_PORT)
                .start());
        Await.until(
                "calls by the pool",
                () -> numbers.whoAgain().equals("near again") && kinds(channel).equals(List.of(Kind.POOL)));
    }

    private static boolean isKnown(RpcChannel channel, String host) {
        return channel.routes().stream().anyMatch(route -> route.host().equals(host));
    }

    @Test
    void shouldMapNoMoreMemoryThanTheDirectoryLetsAProcessHave() throws Exception {
        child("a", "one");
        Directory directory = keep(Directory.open(members()));
        // For one channel of this test, not for two.
        directory.setLimits(new Limits(12 << 20, 100));
        RpcChannel first = channel("a");
        assertThat(first.stub(Numbers.class).who()).isEqualTo("one");
        assertThat(kinds(first)).containsExactly(Kind.HOST);

        RpcChannel second = channel("a");
        Numbers numbers = second.stub(Numbers.class);
        assertThat(numbers.who()).isEqualTo("one");
        assertThat(kinds(second)).containsExactly(Kind.TCP);
        assertThat(second.routes())
                .filteredOn(route -> route.kind() == Kind.HOST)
                .singleElement()
                .satisfies(route -> {
                    assertThat(route.state()).isEqualTo(State.FAILED);
                    assertThat(route.reason())
                            .contains("has 8388608 bytes of arenas mapped and may have 12582912")
                            .contains("close channels first");
                });

        first.close();
        awaitCalls(second, Kind.HOST);
    }

    @Test
    void shouldGoOnWithAnotherServerWhenOneIsKilled() throws Exception {
        ChildJvm near = child("a", "near");
        child("b", "far");
        RpcChannel channel = channel("a");
        Numbers numbers = channel.stub(Numbers.class);
        // If its process gets no processor for half a second, the farther one is taken until then.
        Await.equal("calls of the nearer one", "near", numbers::whoAgain);
        for (int i = 0; i < 20; i++) {
            assertThat(numbers.whoAgain()).as("call %d", i).isEqualTo("near");
        }

        near.kill();

        assertThat(numbers.whoAgain()).isEqualTo("far");
    }

    @Test
    void shouldNotWaitForANearerServerThatIsStopped() throws Exception {
        ChildJvm near = child("a", "near");
        child("b", "far");
        near.pause();
        try {
            // Longer than the test takes, so that the nearer one is being tried all the time.
            RpcChannel channel = channel("a", members(), Duration.ofMinutes(2));
            assertThat(channel.stub(Numbers.class).who()).isEqualTo("far");
            // The thread that tries it may get its first turn after the call to the farther one.
            Await.until(
                    "the nearer one to be tried",
                    () -> channel.routes().stream()
                            .anyMatch(route -> route.kind() == Kind.HOST
                                    && route.host().equals("host-of-near")
                                    && route.state() == State.TRYING));
        } finally {
            near.resume();
        }
    }

    @Test
    void shouldLeaveTimeForOtherWaysWhenOneLetsItWait() throws Exception {
        ChildJvm stopped = child("a", "stopped");
        Endpoint itsMemory = named();
        RpcServer alive = serve("b", new NumbersService("alive"));
        byHand().announce(
                        ChannelName.of(CHANNEL),
                        itsMemory.withTcp(List.of(alive.address().orElseThrow())));
        // The first connection of a process over the network loads and compiles a lot of code; here a later one has a
        // share of 10 s.
        assertThat(channel("c").stub(Numbers.class).who()).isNotEmpty();
        stopped.pause();
        try {
            // The socket in the runtime folder, at which no process answers, would use up all of the time.
            RpcChannel channel = channel("a", byHandAddress(), Duration.ofSeconds(20));
            assertThat(channel.stub(Numbers.class).who()).isEqualTo("alive");
            assertThat(kinds(channel)).containsExactly(Kind.TCP);
        } finally {
            stopped.resume();
        }
    }

    @Test
    void shouldNotSendCallsByMemoryThatIsGoneWhileTheNextWayIsTried() throws Exception {
        child("a", "one");
        Endpoint itsMemory = named();
        Path view = Files.createSymbolicLink(host("view-of-a"), host("a"));
        try (ServerSocket mute = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            byHand().announce(
                            ChannelName.of(CHANNEL),
                            itsMemory.withTcp(List.of(URI.create("rdma://127.0.0.1:" + mute.getLocalPort()))));
            RpcChannel channel = channel("view-of-a", byHandAddress(), Duration.ofMinutes(2));
            Numbers numbers = channel.stub(Numbers.class);
            assertThat(numbers.who()).isEqualTo("one");

            Files.delete(view);
            Await.until(
                    "the other way to be tried",
                    () -> channel.routes().stream()
                            .anyMatch(route -> route.kind() == Kind.TCP && route.state() == State.TRYING));

            Numbers patient = channel.stub(Numbers.class, CallOptions.DEFAULT.withTimeout(Duration.ofMinutes(2)));
            CompletableFuture<Thread> waiting = new CompletableFuture<>();
            CompletableFuture<String> waited = Concurrently.start(() -> {
                waiting.complete(Thread.currentThread());
                return patient.who();
            });
            Await.until("a call that waits for a server", () -> isInRoutes(waiting.join()));
            long waits = waits(waiting.join());
            CallOptions hasty = CallOptions.DEFAULT.withTimeout(Duration.ofSeconds(1));
            assertThat(catchThrowableOfType(RpcException.class, channel.stub(Numbers.class, hasty)::who))
                    .isNotNull();
            // A poll every 20 ms would have waited 50 times.
            assertThat(waits(waiting.join()) - waits).isLessThan(10);
            // In this order: the end of the connection starts the next round of attempts, which must find memory.
            Files.createSymbolicLink(view, host("a"));
            mute.close();
            Await.until("calls by memory", () -> kinds(channel).equals(List.of(Kind.HOST)));
            assertThat(numbers.who()).isEqualTo("one");
            assertThat(waited.join()).isEqualTo("one");
        }
    }

    private static boolean isInRoutes(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(ChannelRoutes.class.getName())
                        && frame.getMethodName().equals("await"));
    }

    private static long waits(Thread thread) {
        return ManagementFactory.getThreadMXBean()
                .getThreadInfo(thread.threadId())
                .getWaitedCount();
    }

    @Test
    void shouldLeaveTheOldAddressOfAServerThatMovesWhileItIsTried() throws Exception {
        ChildJvm stopped = child("a", "stopped");
        Endpoint old = named();
        Endpoint withoutMemory = Endpoint.of("moving", old.host(), old.fingerprint());
        RpcServer one = serve("b", new NumbersService("one"));
        RpcServer two = serve("c", new NumbersService("two"));
        Directory directory = byHand();
        directory.announce(
                ChannelName.of(CHANNEL),
                Endpoint.of("standing", "host-b", old.fingerprint())
                        .withTcp(List.of(one.address().orElseThrow())));
        RpcChannel channel = channel("d", byHandAddress(), Duration.ofMinutes(2));
        stopped.pause();
        try {
            Announcement moving = directory.announce(ChannelName.of(CHANNEL), withoutMemory.withTcp(old.tcp()));
            Await.until("the old address to be tried", () -> isThere(channel, "moving", State.TRYING));
            moving.update(withoutMemory.withTcp(List.of(two.address().orElseThrow())));
            Await.until("the new address", () -> isThere(channel, "moving", State.USED));
        } finally {
            stopped.resume();
        }
        // It answers too late, when no call waits for it any more.
        Await.until("the line to the old address to be left", () -> isThere(channel, "moving", State.LEAVING));
        assertThat(used(channel)).hasSize(2);
    }

    private static boolean isThere(RpcChannel channel, String endpoint, State state) {
        return channel.routes().stream().anyMatch(route -> route.endpoint().equals(endpoint) && route.state() == state);
    }

    @Test
    void shouldKeepTheLineOpenOnWhichAStreamIsReadSlowly() throws Exception {
        long count = 50_000;
        child("a", "one");
        Path view = Files.createSymbolicLink(host("view-of-a"), host("a"));
        RpcChannel channel = channel("view-of-a");
        Numbers numbers = channel.stub(Numbers.class);
        try (Stream<Long> stream = numbers.upTo(count)) {
            Iterator<Long> numbersRead = stream.iterator();
            assertThat(numbersRead.next()).isZero();

            Files.delete(view);
            Await.until("calls over the network", () -> kinds(channel).equals(List.of(Kind.TCP)));
            // Longer than an idle subchannel that was left stays open.
            long end = System.nanoTime() + Duration.ofMillis(1500).toNanos();
            while (System.nanoTime() < end) {
                assertThat(numbers.who()).isEqualTo("one");
            }
            long next = 1;
            while (numbersRead.hasNext()) {
                assertThat(numbersRead.next()).isEqualTo(next++);
            }
            assertThat(next).isEqualTo(count);
        }
        Await.until(
                "the line to be closed",
                () -> channel.routes().stream().noneMatch(route -> route.state() == State.LEAVING));
    }

    /** Starts a second server, and takes a stub that only that one can serve. */
    private Library leaveByASecondStub(RpcChannel channel) {
        keep(server("b", new NumbersService("two"))
                .service(Library.class, new LibraryService())
                .listen(ANY_PORT)
                .start());
        Await.equal("servers in use", 2, () -> used(channel).size());
        return channel.stub(Library.class);
    }

    private static void awaitLeft(RpcServer left) {
        Await.equal("connections to the server that was left", 0, left::connections);
    }

    @Test
    void shouldLetCallsInFlightEndAtAServerThatASecondStubCannotUse() {
        NumbersService one = new NumbersService("one");
        RpcServer left = serve("a", one);
        RpcChannel channel = channel("c");
        CompletableFuture<String> slow = channel.stub(Numbers.class).slow();
        Await.until("the call has begun", () -> one.calls.get() == 1);
        try (Library.Book book = leaveByASecondStub(channel).write("of two", 1)) {
            assertThat(book.title()).isEqualTo("of two");
        }
        assertThat(channel.stub(Numbers.class).who()).isEqualTo("two");
        assertThat(slow).isNotDone();
        one.release.complete(null);
        assertThat(slow).succeedsWithin(Await.BOUND).isEqualTo("one");
        awaitLeft(left);
    }

    @Test
    void shouldKeepAScopeAtAServerThatASecondStubCannotUseUntilItIsClosed() {
        RpcServer left = serve("a", new NumbersService("one"));
        RpcChannel channel = channel("c");
        try (Scope scope = channel.newScope()) {
            Page held = scope.create(Page.class);
            leaveByASecondStub(channel);
            Await.until(
                    "its route has left it",
                    () -> channel.routes().stream().anyMatch(route -> route.state() == State.LEAVING));
            held.number(7);
            assertThat(held.number()).isEqualTo(7);
            Await.equal("connections", 1, left::connections);
        }
        awaitLeft(left);
    }

    @Test
    void shouldRepeatIdempotentCallsOfEveryStyleAndNoOthers() throws Exception {
        NumbersService one = new NumbersService("one");
        NumbersService two = new NumbersService("two");
        RpcChannel channel = channelToBoth(one, two);
        Numbers numbers = channel.stub(Numbers.class);
        one.failures.set(1000);
        for (int i = 0; i < 4; i++) {
            assertThat(numbers.whoAgain()).isEqualTo("two");
            assertThat(numbers.whoLater().get()).isEqualTo("two");
            assertThat(numbers.whoStreamed()).containsExactly("two");
        }
        two.failures.set(1000);

        RpcException e = catchThrowableOfType(RpcException.class, numbers::who);
        assertThat(e.code()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(e).hasMessageContaining("was told to fail");
        int before = one.calls.get() + two.calls.get();
        assertThat(catchThrowableOfType(RpcException.class, numbers::who)).isNotNull();
        assertThat(one.calls.get() + two.calls.get()).isEqualTo(before + 1);
    }

    @Test
    void shouldPreferOthersToAServerThatFailsOften() {
        NumbersService one = new NumbersService("one");
        NumbersService two = new NumbersService("two");
        RpcChannel channel = channelToBoth(one, two);
        Numbers numbers = channel.stub(Numbers.class);
        one.failures.set(Integer.MAX_VALUE);

        Await.until("its ejection", () -> {
            try {
                numbers.who();
            } catch (RpcException e) {
                assertThat(e).hasMessageContaining("was told to fail");
            }
            return channel.routes().stream().anyMatch(route -> route.state() == State.EJECTED);
        });
        one.failures.set(0);
        Await.until("its return", () -> numbers.who().equals("one"));
    }

    @Test
    void shouldGiveCallsToTheServerWithTheFewest() throws Exception {
        NumbersService one = new NumbersService("one");
        NumbersService two = new NumbersService("two");
        RpcChannel channel = channelToBoth(one, two);
        Numbers numbers = channel.stub(Numbers.class);

        List<CompletableFuture<String>> slow = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            slow.add(numbers.slow());
        }
        one.release.complete(null);
        two.release.complete(null);
        for (CompletableFuture<String> each : slow) {
            each.get();
        }
        assertThat(one.calls.get()).isEqualTo(10);
        assertThat(two.calls.get()).isEqualTo(10);
        Await.until("the calls count as ended", () -> used(channel).stream().allMatch(route -> route.calls() == 0));
    }

    /** A program that waits for a used route goes on with calls, which must then use it. */
    @Test
    void shouldCallARouteUsedOnlyWhileCallsUseIt() {
        serve("a", new NumbersService("one"));
        ChannelRoutes channel = keep(ChannelRoutes.open(spec(host("b")), new Router.Membership(members(), "b")));
        EndpointRoute route = EndpointRoute.to(named(), channel.spec(), new ChannelPool(Optional.empty())).stream()
                .filter(each -> each.kind() == Kind.TCP)
                .findFirst()
                .orElseThrow();

        assertThat(route.connect(channel, PATIENCE)).isTrue();
        assertThat(route.describe(channel.subchannels()).state()).isEqualTo(State.TRYING);
        assertThat(route.describe(channel.subchannels()).reason())
                .isEqualTo("it is connected, but calls do not use it yet");
        RouteSubchannel connected = route.subchannel().orElseThrow();
        Subchannel[] live = {connected};
        assertThat(route.describe(live).state()).isEqualTo(State.USED);
        connected.reject();
        assertThat(route.describe(live).state()).isEqualTo(State.LEAVING);
    }

    @Test
    void shouldSendWhatIsPassedByPointerWhereItLies() {
        NumbersService one = new NumbersService("one");
        NumbersService two = new NumbersService("two");
        RpcChannel channel = channelToBoth(one, two);
        Numbers numbers = channel.stub(Numbers.class);

        for (int i = 0; i < 20; i++) {
            try (Scope scope = channel.newScope()) {
                Page page = scope.create(Page.class);
                page.number(i);
                assertThat(numbers.sum(page)).isEqualTo(i);
            }
        }
        assertThat(one.calls.get() + two.calls.get()).isEqualTo(20);
    }

    @Test
    void shouldFindTheServerThatWasRestartedAtTheSameAddress() {
        URI address = URI.create("rdma://127.0.0.1:" + FreePort.find());
        RpcServer first =
                keep(server("a", new NumbersService("first")).listen(address).start());
        RpcChannel channel = channel("b");
        Numbers numbers = channel.stub(Numbers.class);
        assertThat(numbers.who()).isEqualTo("first");

        first.close();
        RpcException gone = catchThrowableOfType(RpcException.class, numbers::who);
        assertThat(gone.code()).isEqualTo(Status.Code.UNAVAILABLE);
        keep(server("a", new NumbersService("second")).listen(address).start());

        Await.until("the second server", () -> isAnswered(numbers, "second"));
    }

    /**
     * Endpoints of one name may have different versions; whether a client can call them is compared when it connects.
     */
    @Test
    void shouldAnnounceAnotherVersionUnderTheSameName() {
        try (Directory directory = Directory.open(members())) {
            directory.announce(ChannelName.of(CHANNEL), Endpoint.of("other", "host-z", 4711));
            serve("a", new NumbersService("one"));
            assertThat(channel("a").stub(Numbers.class).who()).isEqualTo("one");
            assertThat(directory.endpoints(ChannelName.of(CHANNEL))).hasSize(2);
        }
    }

    @Test
    void shouldNameEachUnreachableEndpointAndWhyWithinTheTimeout() {
        long fingerprint = ServiceDefinition.of(Numbers.class).fingerprint();
        try (Directory directory = Directory.open(members())) {
            directory.announce(
                    ChannelName.of(CHANNEL),
                    Endpoint.of("lost", "host-z", fingerprint)
                            .withTcp(List.of(URI.create("rdma://no-such-host.invalid:1"))));
            directory.announce(
                    ChannelName.of(CHANNEL),
                    Endpoint.of("dead", "host-y", fingerprint).withTcp(List.of(URI.create("rdma://127.0.0.1:1"))));

            RpcException e = catchThrowableOfType(RpcException.class, () -> channel("a"));
            assertThat(e.code()).isEqualTo(Status.Code.UNAVAILABLE);
            assertThat(e)
                    .hasMessageContaining("lost on host-z")
                    .hasMessageContaining("no-such-host.invalid")
                    .hasMessageContaining("dead on host-y")
                    .hasMessageContaining("no server is listening at rdma://127.0.0.1:1");
        }
    }

    @Test
    void shouldSayThatTheDirectoryNamesNobody() {
        RpcException e = catchThrowableOfType(RpcException.class, () -> channel("a"));
        assertThat(e.code()).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(e).hasMessageContaining(CHANNEL);
    }

    @Test
    void shouldGoOnWhileTheDirectoryIsGone() throws IOException {
        keep(server("a", new NumbersService("one")).start());
        RpcChannel channel = channel("a");
        Numbers numbers = channel.stub(Numbers.class);
        assertThat(numbers.who()).isEqualTo("one");

        Path directory = Path.of(members());
        Files.move(directory, folder.resolve("elsewhere"));

        Set<String> answers = new HashSet<>();
        long end = System.nanoTime() + Duration.ofMillis(600).toNanos();
        do {
            answers.add(numbers.who());
        } while (System.nanoTime() - end < 0);
        assertThat(answers).containsExactly("one");
        Files.move(folder.resolve("elsewhere"), directory);
    }

    @Test
    void shouldReportTheStatesOfAChannel() {
        RpcServer one = serve("a", new NumbersService("one"));
        RpcChannel channel = channel("b");
        List<RpcChannel.State> states = new CopyOnWriteArrayList<>();
        channel.onStateChange(states::add);
        assertThat(channel.state()).isEqualTo(RpcChannel.State.READY);

        one.close();
        Await.equal("the state without a server", RpcChannel.State.TRANSIENT_FAILURE, channel::state);
        assertThat(catchThrowableOfType(RpcException.class, channel.stub(Numbers.class)::who)
                        .code())
                .isEqualTo(Status.Code.UNAVAILABLE);

        // No call asks for it.
        serve("c", new NumbersService("two"));
        Await.equal("the state with another server", RpcChannel.State.READY, channel::state);
        assertThat(channel.stub(Numbers.class).who()).isEqualTo("two");
        // A state that changes at once is not reported.
        Await.equal(
                "the states before the end",
                List.of(RpcChannel.State.TRANSIENT_FAILURE, RpcChannel.State.READY),
                () -> List.copyOf(states));

        channel.close();
        Await.equal(
                "the states",
                List.of(RpcChannel.State.TRANSIENT_FAILURE, RpcChannel.State.READY, RpcChannel.State.CLOSED),
                () -> List.copyOf(states));
    }

    @Test
    void shouldEndCallsWithCancelledOnceItIsClosed() {
        keep(server("a", new NumbersService("one")).start());
        RpcChannel channel = channel("a");
        Numbers numbers = channel.stub(Numbers.class);
        numbers.who();

        channel.close();

        assertThat(catchThrowableOfType(RpcException.class, numbers::who).code())
                .isEqualTo(Status.Code.CANCELLED);
        assertThat(catchThrowableOfType(RpcException.class, numbers::whoAgain).code())
                .isEqualTo(Status.Code.CANCELLED);
    }
}
