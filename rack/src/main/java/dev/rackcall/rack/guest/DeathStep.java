package dev.rackcall.rack.guest;

import dev.rackcall.shm.Pool;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;

/**
 * A is killed while it allocates. B has everything that was A's before; after it was told that A is gone, it takes back what A had, to the byte, and allocates on in
 * an arena that is whole.
 */
final class DeathStep implements GuestStep {
    private static final Step STEP = Step.DEATH;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final long HOLD_BYTES = 200_000;
    private static final int ROUNDS = 2000;
    private static final long BEATS_BEFORE = 100;
    /** For so long a word stands still that A would have raised a thousand times. */
    private static final long STILL_NANOS = Duration.ofSeconds(2).toNanos();

    @Override
    public String run(Guest guest) {
        try (Pool pool = Pool.dax(Guest.DEVICE, guest.number())) {
            return guest.is("A") ? allocateUntilKilled(guest, pool) : survive(guest, pool);
        }
    }

    private static String allocateUntilKilled(Guest guest, Pool pool) {
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
                guest.tell(new Console.Kill(STEP));
            }
        }
        throw new IllegalStateException("the machine did not kill this guest in " + Guest.BOUND.toSeconds() + " s");
    }

    private static MemorySegment pulse(Pool pool, long ref) {
        return pool.arena().memory().asSlice(Ref.offset(ref), 8);
    }

    private static String survive(Guest guest, Pool pool) {
        long mine = pool.arena().usedBytes();
        guest.meet(STEP, "opened");
        MemorySegment pulse = pool.arena().memory().asSlice(Long.parseLong(guest.get(STEP, "pulse")), 8);
        guest.put(STEP, "seen", "");
        Guest.await("A does not begin", () -> (long) LONG.getVolatile(pulse, 0L) > 0);
        awaitStill(pulse);
        Guest.require(pool.arena().usedBytes() > mine + HOLD_BYTES, "what A had is gone already");
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
        return runs + " page runs of A taken back, " + ROUNDS + " allocations after that, and one of half the arena";
    }

    private static void awaitStill(MemorySegment pulse) {
        long[] last = {-1, System.nanoTime()};
        Guest.await("A goes on", () -> {
            long beat = (long) LONG.getVolatile(pulse, 0L);
            if (beat != last[0]) {
                last[0] = beat;
                last[1] = System.nanoTime();
            }
            return System.nanoTime() - last[1] > STILL_NANOS;
        });
    }
}
