package dev.rackcall.rack.guest;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.Pool;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * A is killed while it serves B through the pool and C over RDMA, and allocates. Their calls end with UNAVAILABLE
 * before their deadline, since A's heartbeat stops and its TCP connection does not answer. A's memory stays allocated
 * until B detects that A has ended and reclaims it: every byte is reclaimed, and the arena is consistent. Then B serves
 * A's channel.
 */
final class DeathStep implements Guest.Work {
    private static final Step STEP = Step.DEATH;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final long HOLD_BYTES = 200_000;
    private static final int ROUNDS = 2000;
    private static final long BEATS_BEFORE = 100;
    private static final int CALLS = 5;
    private static final int LONG_MILLIS = 300_000;
    private static final Duration DEADLINE = Duration.ofMinutes(2);
    /**
     * A has ended if its word does not change for this long; a living A increments it a thousand times in that time.
     */
    private static final long STILL_NANOS = Duration.ofSeconds(2).toNanos();

    @Override
    public String run(Guest guest) {
        if (guest.is("C")) {
            return lose(guest);
        }
        try (Pool pool = Pool.dax(Guest.DEVICE, guest.number())) {
            // B arrives early, while A still uses the pool for earlier steps. Between these two meetings A does not
            // allocate.
            guest.meet(STEP, "begin");
            if (guest.is("B")) {
                // The first server of a channel leaves the channel's door in the pool for ever.
                CallsStep.server(pool).close();
            }
            long before = pool.arena().usedBytes();
            guest.meet(STEP, "counted");
            return guest.is("A") ? allocateUntilKilled(guest, pool) : survive(guest, pool, before);
        }
    }

    private static String allocateUntilKilled(Guest guest, Pool pool) {
        // Not closed: A is killed.
        CallsStep.server(pool);
        YardCalls.server().listen(RemoteStep.ADDRESS).start();
        guest.put(STEP, "serving", "");
        Scope kept = pool.arena().newScope();
        MemorySegment pulse = pulse(pool, kept.allocate(8));
        guest.meet(STEP, "opened");
        pool.arena().newScope().allocate(HOLD_BYTES);
        guest.put(
                STEP,
                "pulse",
                Long.toString(pulse.address() - pool.arena().memory().address()));
        guest.get(STEP, "seen");
        long end = System.nanoTime() + Guest.BOUND.toNanos();
        long beats = 0;
        while (System.nanoTime() - end < 0) {
            try (Scope scope = pool.arena().newScope()) {
                scope.allocate(1 + beats * 977 % 50_000);
            }
            LONG.setVolatile(pulse, 0L, ++beats);
            if (beats == BEATS_BEFORE) {
                guest.put(STEP, "beating", "");
                guest.get(STEP, "calling-B");
                guest.get(STEP, "calling-C");
                guest.tell(new Console.Kill(STEP));
            }
        }
        throw new IllegalStateException("the machine did not kill this guest in " + Guest.BOUND.toSeconds() + " s");
    }

    private static MemorySegment pulse(Pool pool, long ref) {
        return pool.arena().memory().asSlice(Ref.offset(ref), 8);
    }

    /** C shares no memory with A: its calls are in flight over RDMA. */
    private static String lose(Guest guest) {
        guest.get(STEP, "serving");
        // The timeout makes a reconnect to a dead host end before the call that waits for it.
        try (RpcChannel channel = RemoteStep.channel(RemoteStep.ADDRESS)
                .connectTimeout(DEADLINE.dividedBy(2))
                .open()) {
            return callUntilKilled(guest, channel) + ", over RDMA";
        }
    }

    private static String survive(Guest guest, Pool pool, long mine) {
        guest.meet(STEP, "opened");
        MemorySegment pulse = pool.arena().memory().asSlice(Long.parseLong(guest.get(STEP, "pulse")), 8);
        guest.put(STEP, "seen", "");
        guest.get(STEP, "beating");
        String ends = callUntilKilled(guest, pool);
        awaitStill(pulse);
        Guest.require(pool.arena().usedBytes() > mine + HOLD_BYTES, "A's memory is free already");
        Guest.require(pool.reclaimDead() == 0, "B's kernel took another host's participant for dead");
        int runs = pool.reclaimHost(0);
        Guest.require(runs >= 2, "only " + runs + " runs were A's");
        Guest.require(
                pool.arena().usedBytes() == mine,
                "after the reclaim " + pool.arena().usedBytes() + " bytes are in use, not " + mine);
        for (int i = 0; i < ROUNDS; i++) {
            try (Scope scope = pool.arena().newScope()) {
                scope.allocate(1 + i * 31L % 50_000);
            }
        }
        long all = pool.arena().quota() / 2;
        pool.arena().newScope(all).close();
        serveOn(pool);
        return ends + "; " + runs + " page runs of A taken back, " + ROUNDS
                + " allocations after that, and one of half the arena; A's channel served on";
    }

    private static String callUntilKilled(Guest guest, Pool pool) {
        try (RpcChannel channel = RpcChannel.builder(CallsStep.CHANNEL)
                .pool(pool)
                .connectTimeout(DEADLINE.dividedBy(4))
                .open()) {
            return callUntilKilled(guest, channel);
        }
    }

    /** Several calls of each kind are in flight when A is killed. */
    private static String callUntilKilled(Guest guest, RpcChannel channel) {
        Yard yard = channel.stub(Yard.class, CallOptions.DEFAULT.withTimeout(DEADLINE));
        Guest.require(yard.add(1, 1) == 2, "A does not answer");
        long start = System.nanoTime();
        List<CompletableFuture<Status.Code>> ends = new ArrayList<>();
        for (int i = 0; i < CALLS; i++) {
            ends.add(yard.later(i, LONG_MILLIS).handle((value, thrown) -> codeOf(thrown)));
            ends.add(CompletableFuture.supplyAsync(
                    () -> codeOf(() -> yard.block(LONG_MILLIS)), Thread::startVirtualThread));
        }
        ends.add(CompletableFuture.supplyAsync(() -> codeOf(() -> yard.block(LONG_MILLIS)), DeathStep::onThread));
        guest.put(STEP, "calling-" + guest.name(), "");
        for (CompletableFuture<Status.Code> end : ends) {
            Guest.require(end.join() == Status.Code.UNAVAILABLE, "a call in flight ended with " + end.join());
        }
        long millis = (System.nanoTime() - start) / 1_000_000;
        Guest.require(millis < DEADLINE.toMillis(), "the calls took " + millis + " ms, their whole time");
        Status.Code next = codeOf(() -> yard.add(1, 1));
        Guest.require(next == Status.Code.UNAVAILABLE, "a call after that ended with " + next);
        return ends.size() + " calls in flight ended with UNAVAILABLE, after " + millis + " ms";
    }

    private static void onThread(Runnable action) {
        new Thread(action, "caller").start();
    }

    private static Status.Code codeOf(Runnable call) {
        try {
            call.run();
            return Status.Code.OK;
        } catch (RpcException e) {
            return e.code();
        }
    }

    private static Status.Code codeOf(Throwable thrown) {
        if (thrown == null) {
            return Status.Code.OK;
        }
        Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
        return cause instanceof RpcException known ? known.code() : Status.Code.UNKNOWN;
    }

    private static void serveOn(Pool pool) {
        try (RpcServer server = CallsStep.server(pool);
                RpcChannel channel = RpcChannel.builder(CallsStep.CHANNEL)
                        .pool(pool)
                        .connectTimeout(Guest.BOUND)
                        .open()) {
            Guest.require(
                    channel.stub(Yard.class).add(2, 3) == 5,
                    "the channel's next server " + server.channels() + " is wrong");
        }
    }

    private static void awaitStill(MemorySegment pulse) {
        long[] last = {-1, System.nanoTime()};
        Guest.await("A still allocates", () -> {
            long beat = (long) LONG.getVolatile(pulse, 0L);
            if (beat != last[0]) {
                last[0] = beat;
                last[1] = System.nanoTime();
            }
            return System.nanoTime() - last[1] > STILL_NANOS;
        });
    }
}
