package dev.rackcall.rack.guest;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.shm.Pool;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** B calls A: two kernels, one memory, nothing else between them. */
final class CallsStep implements GuestStep {
    static final String CHANNEL = "/rack/yard";

    private static final Step STEP = Step.CALLS;
    private static final int WARM_UP = 1000;
    private static final int TIMED = 1000;
    private static final int CRATES = 1000;
    private static final long SUM = CRATES * (CRATES - 1L) / 2;

    @Override
    public String run(Guest guest) {
        try (Pool pool = Pool.dax(Guest.DEVICE, guest.number())) {
            return guest.is("A") ? serve(guest, pool) : call(guest, pool);
        }
    }

    static RpcServer server(Pool pool) {
        return RpcServer.builder()
                .service(Yard.class, new YardService())
                .dispatch(Dispatch.virtualThreads())
                .pool(pool)
                .start();
    }

    private static String serve(Guest guest, Pool pool) {
        try (RpcServer server = server(pool)) {
            guest.put(STEP, "serving", "");
            guest.get(STEP, "called");
            return "served " + server.channels() + " to another kernel";
        }
    }

    private static String call(Guest guest, Pool pool) {
        guest.get(STEP, "serving");
        long before = pool.arena().usedBytes();
        StringBuilder told = new StringBuilder();
        try (RpcChannel channel = RpcChannel.builder(CHANNEL).pool(pool).open();
                RpcChannel sleeping = RpcChannel.builder(CHANNEL)
                        .pool(pool)
                        .waiting(WaitStrategy.blocking())
                        .open()) {
            Yard yard = channel.stub(Yard.class);
            guest.note("connected twice");
            told.append("add ").append(microsPerAdd(yard, WARM_UP, TIMED)).append(" us");
            told.append(" (asleep ")
                    .append(microsPerAdd(sleeping.stub(Yard.class), 20, 100))
                    .append(" us); ");
            guest.note(told.toString());
            values(yard);
            guest.note("values carried");
            told.append(pointers(channel, yard));
            guest.note("objects passed");
            futuresAndStreams(yard);
            guest.note("futures and streams read");
        }
        Guest.await(
                "the connections' memory does not come back", () -> pool.arena().usedBytes() <= before);
        guest.put(STEP, "called", "");
        return told.toString();
    }

    /** For people: it depends on how busy the machine is, so nothing is demanded of it. */
    private static long microsPerAdd(Yard yard, int warmUp, int times) {
        long sum = 0;
        for (int i = 0; i < warmUp; i++) {
            sum += yard.add(i, 1);
        }
        long start = System.nanoTime();
        for (int i = 0; i < times; i++) {
            sum += yard.add(i, 1);
        }
        long nanos = System.nanoTime() - start;
        long wanted = (warmUp * (warmUp + 1L) + times * (times + 1L)) / 2;
        Guest.require(sum == wanted, "calls gave " + sum + " together, not " + wanted);
        return nanos / times / 1000;
    }

    private static void values(Yard yard) {
        Random random = new Random(7);
        for (int length : new int[] {0, 1, 88, 89, 4096, 300_000}) {
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            Guest.require(Arrays.equals(yard.echo(bytes), bytes), length + " bytes came back changed");
        }
    }

    private static String pointers(RpcChannel channel, Yard yard) {
        Yard snapshot = channel.stub(Yard.class, CallOptions.DEFAULT.withIsolation(Isolation.SNAPSHOT));
        try (Scope mine = channel.newScope();
                Scope shared = channel.newSharedScope()) {
            Crate top = YardService.pile(mine, CRATES, "B");
            for (int i = 0; i < 50; i++) {
                Guest.require(yard.sum(top) == SUM, "the sum is wrong");
            }
            Guest.require(snapshot.sum(top) == SUM, "the sum of the snapshot is wrong");
            Guest.require(
                    yard.sum(YardService.pile(shared, CRATES, "B")) == SUM, "the sum in the shared arena is wrong");
        }
        for (int i = 0; i < 50; i++) {
            Crate pile = yard.pile(100);
            Guest.require(
                    pile.id() == 99 && pile.below().orElseThrow().label().equals("A98"),
                    "the pile is " + pile.id() + ", " + pile.label());
            channel.release(pile);
        }
        return CRATES + " crates by pointer, 50 piles returned";
    }

    private static void futuresAndStreams(Yard yard) {
        List<CompletableFuture<Integer>> futures = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            futures.add(yard.later(i, 40 - i));
        }
        for (int i = 0; i < 40; i++) {
            Guest.require(
                    futures.get(i).join() == i,
                    "future " + i + " gave " + futures.get(i).join());
        }
        try (Stream<Integer> numbers = yard.count(1000)) {
            Guest.require(
                    numbers.toList().equals(IntStream.range(0, 1000).boxed().toList()), "the stream is not whole");
        }
    }
}
