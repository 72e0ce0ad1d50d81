package dev.rackcall.rack.guest;

import dev.rackcall.rack.guest.Yard.Crate;
import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.shm.Scope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Calls of all kinds to a {@link Yard}, over any transport. */
final class YardCalls {
    private static final int WARM_UP = 500;
    private static final int TIMED = 500;
    private static final int CRATES = 1000;
    private static final long SUM = CRATES * (CRATES - 1L) / 2;

    private YardCalls() {}

    /** A server of a {@link Yard}. */
    static RpcServer.Builder server() {
        // The guests are the only hosts in their network, and its RDMA devices do not support certificates.
        return RpcServer.builder()
                .service(Yard.class, new Yard.Service())
                .dispatch(Dispatch.virtualThreads())
                .insecure();
    }

    /**
     * Makes the calls.
     *
     * @param hasSharedArena whether client and server have an arena in common
     * @return a summary of the calls
     */
    static String of(Guest guest, RpcChannel channel, Yard yard, boolean hasSharedArena) {
        String summary = microsPerAdd(yard, WARM_UP, TIMED) + " us a call";
        guest.note(summary);
        values(yard);
        guest.note("values carried");
        pointers(channel, yard, hasSharedArena);
        guest.note("objects passed");
        futuresAndStreams(yard);
        guest.note("futures and streams read");
        return summary + "; values, " + CRATES + " crates by pointer, 50 piles returned, futures, streams";
    }

    /** Only printed, not judged: it depends on the machine's load. */
    static long microsPerAdd(Yard yard, int warmUp, int times) {
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

    /** As {@link #microsPerAdd}, for calls without arguments. */
    static long nanosPerNothing(Yard yard, int warmUp, int times) {
        for (int i = 0; i < warmUp; i++) {
            yard.nothing();
        }
        long start = System.nanoTime();
        for (int i = 0; i < times; i++) {
            yard.nothing();
        }
        return (System.nanoTime() - start) / times;
    }

    private static void values(Yard yard) {
        Random random = new Random(7);
        for (int length : new int[] {0, 1, 88, 89, 4096, 300_000}) {
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            Guest.require(Arrays.equals(yard.echo(bytes), bytes), length + " bytes came back changed");
        }
    }

    private static void pointers(RpcChannel channel, Yard yard, boolean hasSharedArena) {
        Yard snapshot = channel.stub(Yard.class, CallOptions.DEFAULT.withIsolation(Isolation.SNAPSHOT));
        try (Scope mine = channel.newScope()) {
            Crate top = Yard.Service.pile(mine, CRATES, "B");
            for (int i = 0; i < 50; i++) {
                Guest.require(yard.sum(top) == SUM, "the sum is wrong");
            }
            Guest.require(snapshot.sum(top) == SUM, "the sum of the snapshot is wrong");
        }
        if (hasSharedArena) {
            try (Scope shared = channel.newSharedScope()) {
                Guest.require(
                        yard.sum(Yard.Service.pile(shared, CRATES, "B")) == SUM,
                        "the sum in the shared arena is wrong");
            }
        }
        for (int i = 0; i < 50; i++) {
            Crate pile = yard.pile(100);
            Guest.require(
                    pile.id() == 99 && pile.below().orElseThrow().label().equals("A98"),
                    "the pile is " + pile.id() + ", " + pile.label());
            channel.release(pile);
        }
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
