package dev.rackcall.rpc.shm.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.pool.PoolCommons;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** What hosts that share a pool do to find each other and to ring. */
class PoolDoorTest extends RpcFixture {
    private static final Peer SELF = new Peer(7, 8, 9);

    private final TwoHosts hosts = keep(TwoHosts.create());
    private final PoolCommons first = hosts.first().commons().orElseThrow();
    private final PoolCommons second = hosts.second().commons().orElseThrow();

    private RpcServer serve() {
        return serve(RpcServer.builder().service(Echo.class, new EchoService()).pool(hosts.first()));
    }

    private RpcChannel.Builder channelTo(String name) {
        return RpcChannel.builder(name).pool(hosts.second()).connectTimeout(Await.BOUND);
    }

    private PoolDoor ownedDoor(PoolCommons commons, String name) {
        PoolDoor door = PoolDoor.findOrMake(commons, name);
        assertThat(door.change(0, 42)).isTrue();
        return door;
    }

    @Test
    void shouldFindADoorFromTheOtherHostByItsName() {
        ownedDoor(first, "/a");
        PoolDoor.findOrMake(first, "/b");

        assertThat(PoolDoor.find(second, "/a")).map(PoolDoor::owner).contains(42L);
        assertThat(PoolDoor.find(second, "/b")).map(PoolDoor::owner).contains(0L);
        assertThat(PoolDoor.find(second, "/ab")).isEmpty();
        assertThat(PoolDoor.findOrMake(second, "/a").change(0, 43)).isFalse();
        assertThat(PoolDoor.findOrMake(second, "/a").change(42, 43)).isTrue();
    }

    @Test
    void shouldGiveEachServerOfAChannelADoor() {
        RpcServer old = serve();
        RpcServer young = serve();
        assertThat(PoolDoor.owned(second, "/test/echo")).hasSize(2);
        assertFails(
                        Status.Code.ALREADY_EXISTS,
                        RpcServer.builder()
                                .service(Echo.class, new EchoService())
                                .pool(hosts.first())
                                .exclusive()::start)
                .hasMessageContaining(
                        "pid %d of host 0", ProcessHandle.current().pid());
        assertThat(PoolDoor.owned(second, "/test/echo")).hasSize(2);

        assertThat(old.shutdown(Await.BOUND)).isTrue();
        assertThat(PoolDoor.owned(second, "/test/echo")).hasSize(1);
        try (RpcChannel channel = channelTo("/test/echo").open()) {
            assertThat(channel.stub(Echo.class).add(1, 2)).isEqualTo(3);
            assertThat(young.connections()).isOne();
        }
        serve();
        assertThat(PoolDoor.find(second, "/test/echo"))
                .hasValueSatisfying(door -> assertThat(door.owner())
                        .as("of the first door, which is used again")
                        .isNotZero());
    }

    /** As after a pause that was longer than a lease. */
    @Test
    void shouldKeepTheDoorOfAnExclusiveServerThatDrains() throws Exception {
        CountDownLatch finish = new CountDownLatch(1);
        CountDownLatch called = new CountDownLatch(1);
        RpcServer server = serve(RpcServer.builder()
                .service(Echo.class, new EchoService() {
                    @Override
                    public long add(long one, long other) {
                        called.countDown();
                        Await.latch(finish);
                        return one + other;
                    }
                })
                .pool(hosts.first())
                .exclusive());
        try (RpcChannel channel = channelTo("/test/echo").open()) {
            CompletableFuture<Long> sum =
                    CompletableFuture.supplyAsync(() -> channel.stub(Echo.class).add(1, 2), Thread::startVirtualThread);
            Await.latch(called);
            CompletableFuture<Boolean> ended =
                    CompletableFuture.supplyAsync(() -> server.shutdown(Await.BOUND), Thread::startVirtualThread);
            Await.equal("state", RpcServer.State.DRAINING, server::state);
            assertFails(
                    Status.Code.ALREADY_EXISTS,
                    RpcServer.builder()
                            .service(Echo.class, new EchoService())
                            .pool(hosts.first())
                            .exclusive()::start);
            finish.countDown();
            assertThat(sum.get()).isEqualTo(3);
            assertThat(ended.get()).isTrue();
        }
        assertThat(PoolDoor.owned(second, "/test/echo")).isEmpty();
    }

    @Test
    void shouldShowThatAServerLivesWhileItStarts() throws Exception {
        // The last server of two channels was killed. Another start waits for its sign of life at the second channel.
        PoolDoor one = ownedDoor(first, "/one");
        PoolDoor two = ownedDoor(first, "/two");
        PoolDoor mine = PoolDoor.acquire(first, "/one", 7, () -> {});
        long before = mine.beats();
        assertThat(PoolDoor.acquire(first, "/two", 7, mine::beat)).isNotNull();
        assertThat(mine.beats()).isNotEqualTo(before);
        assertThat(one.owner()).isEqualTo(7);
        assertThat(two.owner()).isEqualTo(7);
    }

    /** As after a pause that was longer than a lease. */
    @Test
    void shouldTakeAnotherDoorIfAServerHasTakenItsOwn() {
        RpcServer server = serve();
        PoolDoor door = PoolDoor.find(second, "/test/echo").orElseThrow();
        long owner = door.owner();
        assertThat(door.change(owner, owner + 2)).isTrue();
        Await.until("two doors", () -> PoolDoor.owned(second, "/test/echo").size() == 2);
        try (RpcChannel channel =
                channelTo("/test/echo").connectTimeout(Await.BOUND).open()) {
            assertThat(channel.stub(Echo.class).add(1, 2)).isEqualTo(3);
        }
        assertThat(door.owner()).as("of the door that it left alone").isEqualTo(owner + 2);
        server.close();
        assertThat(PoolDoor.owned(second, "/test/echo")).hasSize(1);
    }

    /** The server's other channel goes on in the meantime. */
    @Test
    void shouldTakeAnotherDoorWhenThePoolHasRoomAgain() {
        serve(RpcServer.builder()
                .service(Echo.class, new EchoService())
                .service(Library.class, new LibraryService())
                .pool(hosts.first()));
        List<Long> taken = takeAll();
        PoolDoor lost = PoolDoor.find(second, "/test/echo").orElseThrow();
        long owner = lost.owner();
        assertThat(lost.change(owner, owner + 2)).isTrue();
        PoolDoor kept = PoolDoor.find(second, "/test/library").orElseThrow();
        for (int look = 0; look < 20; look++) {
            long before = kept.beats();
            Await.until("a sign of life at the other door", () -> kept.beats() != before);
        }
        assertThat(PoolDoor.owned(second, "/test/echo")).hasSize(1);
        taken.forEach(first::give);
        Await.until("two doors", () -> PoolDoor.owned(second, "/test/echo").size() == 2);
    }

    /** Takes all memory of the pool. */
    private List<Long> takeAll() {
        List<Long> taken = new ArrayList<>();
        for (long bytes = first.memory().byteSize(); bytes >= 4096; ) {
            try {
                taken.add(first.takeForPool(bytes));
            } catch (OutOfArenaException _) {
                bytes /= 2;
            }
        }
        return taken;
    }

    @Test
    void shouldEndIfAnExclusiveServerHasTakenItsDoor() throws Exception {
        RpcServer server = serve();
        PoolDoor door = PoolDoor.find(second, "/test/echo").orElseThrow();
        long owner = door.owner();
        assertThat(door.change(owner, owner | 1)).isTrue();
        assertThat(server.awaitTermination(Await.BOUND)).isTrue();
        assertThat(server.state()).isEqualTo(RpcServer.State.CLOSED);
        assertThat(PoolDoor.owned(second, "/test/echo")).hasSize(1);
        assertThat(door.owner()).isEqualTo(owner | 1);
    }

    @Test
    void shouldHandAKnockToOneSideOnly() {
        PoolDoor outside = PoolDoor.findOrMake(second, "/a");
        PoolDoor inside = PoolDoor.find(first, "/a").orElseThrow();
        int seat = outside.sit(4096);
        assertThat(inside.take(seat)).isEqualTo(4096);
        assertThat(inside.take(seat)).isZero();
        assertThat(outside.stand(seat, 4096)).as("a server has it").isFalse();

        assertThat(outside.sit(8192)).isEqualTo(seat);
        assertThat(outside.stand(seat, 8192)).isTrue();
        assertThat(inside.take(seat)).isZero();
        for (int i = 0; i < PoolDoor.SEATS; i++) {
            assertThat(outside.sit(4096L * (i + 1))).isEqualTo(i);
        }
        assertThat(outside.sit(4096)).isNegative();
        // A new server answers what its predecessor left.
        assertThat(inside.change(0, 5)).isTrue();
        assertThat(inside.take(0)).isEqualTo(4096);
    }

    /**
     * What is taken for a host stays taken after the process, so a client that tries again and again must not take any.
     */
    @Test
    void shouldGiveItsKnockBackIfThereIsNoSeat() {
        PoolDoor door = ownedDoor(second, "/test/echo");
        for (int i = 0; i < PoolDoor.SEATS; i++) {
            assertThat(door.sit(4096L * (i + 1))).isEqualTo(i);
        }
        long free = second.takeForHost(PoolHandshake.BYTES);
        second.give(free);
        RpcChannel.Builder channel = channelTo("/test/echo").connectTimeout(Duration.ofMillis(50));
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(channel::open).hasMessageContaining("more clients at its door");
        }
        assertThat(second.takeForHost(PoolHandshake.BYTES)).isEqualTo(free);
    }

    @Test
    void shouldCarryQuestionAndAnswer() throws Handshake.MalformedException {
        long place = second.takeForHost(PoolHandshake.BYTES);
        PoolHandshake asked = PoolHandshake.ask(second, place, new byte[] {1, 2, 3}, SELF);
        assertThat(asked.isAnswered()).isFalse();

        PoolHandshake heard = PoolHandshake.at(first, place);
        assertThat(heard.hello()).containsExactly(1, 2, 3);
        assertThat(heard.peer()).isEqualTo(SELF);
        assertThat(heard.host()).isEqualTo(1);
        assertThat(first.isThere(heard.host(), heard.boot())).isTrue();
        heard.answer(new byte[] {4}, new PoolHandshake.Window(8192, 4096), PoolHandshake.Window.NONE);

        assertThat(asked.isAnswered()).isTrue();
        assertThat(asked.serverHello()).containsExactly(4);
        assertThat(asked.window()).isEqualTo(new PoolHandshake.Window(8192, 4096));
        assertThat(asked.shared()).isEqualTo(PoolHandshake.Window.NONE);
    }

    @Test
    void shouldRefuseKnocksThatAreNone() {
        for (long place : new long[] {-4096, 0, 100, first.memory().byteSize(), Long.MAX_VALUE & -4096}) {
            assertThatThrownBy(() -> PoolHandshake.at(first, place))
                    .as("place %d", place)
                    .isInstanceOf(Handshake.MalformedException.class);
        }
        long place = second.takeForHost(PoolHandshake.BYTES);
        PoolHandshake asked = PoolHandshake.ask(second, place, new byte[0], SELF);
        for (int length : new int[] {-1, Integer.MAX_VALUE, 4096}) {
            second.memory().set(ValueLayout.JAVA_INT, place + 32, length);
            assertThatThrownBy(asked::hello).hasMessageContaining("" + length);
        }
    }

    @Test
    void shouldTellNumbersInOrderAndNotMoreThanFit() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment page = arena.allocate(BellLayout.BYTES, 64);
            MemorySegment server = BellLayout.half(page, true);
            MemorySegment client = BellLayout.half(page, false);
            List<Long> told = new ArrayList<>();
            for (long round = 0; round < 3; round++) {
                for (long i = 0; i < BellLayout.NUMBERS; i++) {
                    assertThat(BellLayout.post(client, server, round * 100 + i)).isTrue();
                }
                assertThat(BellLayout.post(client, server, 1)).isFalse();
                told.clear();
                assertThat(BellLayout.take(server, client, told::add)).isEqualTo(BellLayout.NUMBERS);
                assertThat(told).startsWith(round * 100).endsWith(round * 100 + 63);
            }
            assertThat(BellLayout.take(server, client, told::add)).isZero();
            // Whatever a peer writes: no more than there is room for.
            client.set(ValueLayout.JAVA_LONG, 192, Long.MAX_VALUE);
            assertThat(BellLayout.take(server, client, told::add)).isEqualTo(BellLayout.NUMBERS);
            client.set(ValueLayout.JAVA_LONG, 192, -1L);
            assertThat(BellLayout.take(server, client, told::add)).isZero();
        }
    }

    /** Answers the next knock at the door of /a as a server would, but for where it says that the memory is. */
    private CompletableFuture<Boolean> answer(PoolDoor door, PoolHandshake.Window window, PoolHandshake.Window shared) {
        Handshake.ArenaPlace none = new Handshake.ArenaPlace(0, 0, 0);
        byte[] serverHello = new Handshake.ServerHello(
                        Status.OK, 1, 64, 2, new Handshake.Arenas(none, none, none), new ServedInterface("", 0, ""))
                .encode();
        return Concurrently.start(() -> {
            long[] place = new long[1];
            Await.until("a knock", () -> (place[0] = door.take(0)) != 0);
            PoolHandshake.at(first, place[0]).answer(serverHello, window, shared);
            return true;
        });
    }

    @Test
    void shouldRefuseMemoryThatIsNone() throws Exception {
        PoolDoor door = ownedDoor(first, "/a");
        long before = hosts.second().arena().usedBytes();
        for (PoolHandshake.Window window : List.of(
                PoolHandshake.Window.NONE,
                new PoolHandshake.Window(8192, 64),
                new PoolHandshake.Window(-4096, 8192),
                new PoolHandshake.Window(Long.MAX_VALUE & -4096, 8192),
                new PoolHandshake.Window(8192, Long.MAX_VALUE))) {
            CompletableFuture<Boolean> server = answer(door, window, window);
            assertThatThrownBy(channelTo("/a")::open).as("%s", window).isInstanceOf(RpcException.class);
            assertThat(Concurrently.get(server)).isTrue();
            assertThat(hosts.second().arena().usedBytes()).as("%s", window).isEqualTo(before);
        }
    }

    /** As it must for want of descriptors, too: each attempt would cost a window. */
    @Test
    void shouldLeaveAWindowThatItCannotUse() throws InterruptedException {
        PoolDoor door = ownedDoor(first, "/a");
        PoolHandshake.Window window = new PoolHandshake.Window(first.takeWindow(64 << 10), 64 << 10);
        MemorySegment page = PoolMemory.bellPage(first, window).fill((byte) 0);
        CompletableFuture<Boolean> server = answer(door, window, new PoolHandshake.Window(8192, Long.MAX_VALUE));
        assertThatThrownBy(channelTo("/a")::open).isInstanceOf(RpcException.class);
        assertThat(Concurrently.get(server)).isTrue();
        assertThat(BellLayout.stage(BellLayout.half(page, false))).isEqualTo(BellLayout.LEFT);
    }

    /** As if the server was stopped for long, and the client's host was reclaimed in the meantime. */
    @Test
    void shouldWriteNothingIntoMemoryThatIsNoKnockAnyMore() {
        long place = second.takeForHost(PoolHandshake.BYTES);
        MemorySegment others =
                second.memory().asSlice(place, PoolHandshake.BYTES).fill((byte) 0x55);
        byte[] before = others.toArray(ValueLayout.JAVA_BYTE);
        try (RpcServer server = serve()) {
            assertThat(PoolDoor.find(second, "/test/echo").orElseThrow().sit(place))
                    .isZero();
            // The server looks at the seats in their order: once it has answered the next one, it has seen the first.
            channelTo("/test/echo").open().close();
            assertThat(server.connections()).isLessThanOrEqualTo(1);
        }
        assertThat(others.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
    }

    /** Another client may have its window by the next look. */
    @Test
    void shouldRememberThatAClientHasLeft() throws Handshake.MalformedException {
        PoolMemory memory = new PoolMemory(first, 64 << 10);
        long place = second.takeForHost(PoolHandshake.BYTES);
        PoolHandshake.ask(second, place, new byte[0], SELF);
        PoolMemory.Tenant tenant = memory.admit(PoolHandshake.at(first, place));
        tenant.take("/test/door", 64 << 10, 4).close();
        PoolBell client = PoolBell.of(PoolMemory.bellPage(second, tenant.window()), false);
        assertThat(tenant.hasLeft()).isFalse();
        tenant.bell().close();
        client.close();
        client.leave();
        tenant.leave();

        first.memory().asSlice(tenant.window().place(), tenant.window().bytes()).fill((byte) 0);
        assertThat(tenant.hasLeft()).isTrue();
    }

    /** All connections of a process depend on one thread. */
    @Test
    void shouldRingOnAfterABellThatCannotBeLookedAt() {
        try (Arena ofThisThread = Arena.ofConfined();
                Arena ofAll = Arena.ofShared()) {
            PoolBell broken = PoolBell.of(ofThisThread.allocate(BellLayout.BYTES, 64), true);
            MemorySegment page = ofAll.allocate(BellLayout.BYTES, 64);
            PoolBell server = PoolBell.of(page, true);
            PoolBell client = PoolBell.of(page, false);
            try {
                Await.until("the broken one ends", () -> broken.drain(number -> {}) < 0);
                assertThat(client.ring()).isTrue();
                Await.until("it rings", () -> server.drain(number -> {}) > 0);
            } finally {
                broken.close();
                client.close();
                server.close();
            }
        }
    }

    @Test
    void shouldEndWithThePoolThatItsWordsAreIn() {
        Arena pool = Arena.ofShared();
        PoolBell bell = PoolBell.of(pool.allocate(BellLayout.BYTES, 64), false);
        try {
            pool.close();
            assertThat(bell.drain(number -> {})).isNegative();
            assertThat(bell.ring()).isFalse();
        } finally {
            bell.close();
        }
    }
}
