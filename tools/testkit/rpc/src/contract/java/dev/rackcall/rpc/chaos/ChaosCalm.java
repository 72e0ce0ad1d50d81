package dev.rackcall.rpc.chaos;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.chaos.Chaos.Grain;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** An idle connection has all its slots and streams free and uses no more memory than at first. */
public final class ChaosCalm {
    /** The slots that the channel must have. */
    public static final int SLOTS = 16;

    private static final int STREAMS = 256;
    /** Over RDMA a connection has more slots than concurrent calls. */
    private static final int TURNS = 4;

    private static final Duration BOUND = Duration.ofSeconds(20);
    private static final int GRAINS = 100;
    /** A few pages that are kept for the next allocation. */
    private static final long SPARE_BYTES = 4 * 4096;

    private final RpcChannel channel;
    private final Chaos chaos;
    private long[] before;

    public ChaosCalm(RpcChannel channel) {
        this.channel = channel;
        this.chaos = channel.stub(Chaos.class, CallOptions.DEFAULT.withTimeout(BOUND));
    }

    /** @throws AssertionError if something is still in use; the first call only records the usage */
    public void check() {
        callOnce();
        useAllSlots();
        Await.until("all " + STREAMS + " streams to be had", this::canOpenAllStreams);
        if (before == null) {
            before = usedBytes();
            return;
        }
        Await.equal(
                "memory that is taken, of the request arena, the shared arena, the reply arena and temporary scopes, beyond "
                        + Arrays.toString(before),
                "none",
                this::grown);
    }

    private static void require(boolean right, String what) {
        if (!right) {
            throw new AssertionError(what + " came back wrong on a quiet connection");
        }
    }

    private void callOnce() {
        require(chaos.next(1, 0) == 2, "a value");
        require(chaos.later(2, 0).join() == 3, "a future");
        require(chaos.nested(1, 1, 0) == 3, "a nested call");
        require(chaos.header("no", 0).equals("none"), "a header");
        chaos.tell(1, 0);
        for (Isolation isolation : Isolation.values()) {
            try (Scope scope = channel.newScope()) {
                Chaos isolated = channel.stub(
                        Chaos.class, CallOptions.DEFAULT.withTimeout(BOUND).withIsolation(isolation));
                Grain first = ChaosService.chain(scope, 5, GRAINS);
                require(isolated.sum(first, 0) == ChaosService.sumOf(5, GRAINS), "a sum of an argument " + isolation);
            }
        }
        try (Scope scope = channel.newSharedScope()) {
            require(
                    chaos.take(ChaosService.chain(scope, 5, GRAINS), 0) == ChaosService.sumOf(5, GRAINS),
                    "a sum of what was taken over");
        }
        Grain made = chaos.make(4, GRAINS, 0);
        require(made.value() == 4, "a result");
        channel.release(made);
        try (Stream<Long> numbers = chaos.count(0, 500, 0)) {
            require(numbers.mapToLong(each -> each).sum() == 124_750, "a stream");
        }
        try {
            chaos.fail(7, 0);
            require(false, "a failure");
        } catch (RpcException e) {
            require(e.code() == Status.Code.ABORTED, "a failure");
        }
    }

    /** Uses the largest values, so that each slot has memory for them, and copied arguments. */
    private void useAllSlots() {
        for (int turn = 0; turn < TURNS; turn++) {
            IntStream.range(0, SLOTS)
                    .mapToObj(i -> chaos.meet(SLOTS, new byte[ChaosCaller.MOST_BYTES]))
                    .toList()
                    .forEach(value -> require(value.join().length == ChaosCaller.MOST_BYTES, "one of all values"));
        }
        Chaos copying =
                channel.stub(Chaos.class, CallOptions.DEFAULT.withTimeout(BOUND).withIsolation(Isolation.SNAPSHOT));
        List<Scope> scopes =
                IntStream.range(0, SLOTS).mapToObj(i -> channel.newScope()).toList();
        scopes.stream()
                .map(scope -> copying.meetWith(SLOTS, ChaosService.chain(scope, 1, GRAINS)))
                .toList()
                .forEach(sum -> require(sum.join() == ChaosService.sumOf(1, GRAINS), "one of all sums"));
        scopes.forEach(Scope::close);
    }

    /**
     * Opens exactly as many streams as a connection may have. Retries while the server has not yet handled the latest
     * closes.
     */
    private boolean canOpenAllStreams() {
        List<Stream<Long>> streams = new ArrayList<>();
        try {
            while (streams.size() <= STREAMS) {
                streams.add(chaos.count(0, 10_000, 0));
            }
            throw new AssertionError("more than " + STREAMS + " streams could be opened");
        } catch (RpcException e) {
            if (e.code() != Status.Code.RESOURCE_EXHAUSTED) {
                throw e;
            }
        } finally {
            streams.forEach(Stream::close);
        }
        return streams.size() == STREAMS;
    }

    private String grown() {
        long[] now = usedBytes();
        for (int i = 0; i < now.length; i++) {
            if (now[i] > before[i] + SPARE_BYTES) {
                return Arrays.toString(now);
            }
        }
        return "none";
    }

    private long[] usedBytes() {
        long[] replies = chaos.usedBytes();
        try (Scope own = channel.newScope();
                Scope shared = channel.newSharedScope()) {
            return new long[] {own.arena().usedBytes(), shared.arena().usedBytes(), replies[0], replies[1]};
        }
    }
}
