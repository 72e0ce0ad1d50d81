package dev.rackcall.rack.guest;

import dev.rackcall.rack.guest.Yard.Crate;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.os.file.ObservedFile;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.types.SharedList;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.Random;

/**
 * One pool in two kernels: each reads a graph that the other has built and is refused stale Refs, and both allocate at
 * once.
 */
final class MemoryStep implements Guest.Work {
    private static final Step STEP = Step.MEMORY;
    private static final SharedType<Crate> CRATE = SharedType.of(Crate.class);
    private static final int CRATES = 1000;
    private static final int ROUNDS = 1000;
    private static final int MOST_SCOPES = 24;
    private static final int MOST_BYTES = 30_000;
    private static final int DEVICE_PAGE = 2 << 20;

    @Override
    public String run(Guest guest) {
        // Both open it at the same time: one of them makes the pool.
        guest.meet(STEP, "open");
        try (Pool pool = Pool.dax(Guest.DEVICE, guest.number())) {
            guest.put(
                    STEP,
                    "pool-" + guest.name(),
                    pool.arena().id() + " " + pool.arena().participant());
            String[] theirs = guest.get(STEP, "pool-" + guest.partner()).split(" ", 2);
            Guest.require(
                    theirs[0].equals(Integer.toString(pool.arena().id())), "each guest has made a pool of its own");
            Guest.require(
                    !theirs[1].equals(Integer.toString(pool.arena().participant())),
                    "both are participant " + theirs[1]);
            observe();
            readThePartnersGraph(guest, pool.arena());
            String allocated = allocateAtOnce(guest, pool);
            guest.meet(STEP, "closing");
            return allocated;
        }
    }

    /** Reads the pool as {@code rackcall top} does. */
    private static void observe() {
        byte[] first = new byte[Long.BYTES];
        try (ObservedFile device = ObservedFile.open(Guest.DEVICE, 0, DEVICE_PAGE)) {
            device.read(ByteBuffer.wrap(first), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Guest.require(first[0] != 0, "an observer reads nothing at the start of the pool");
    }

    private static void readThePartnersGraph(Guest guest, Arena arena) {
        Scope scope = arena.newScope();
        Crate top = scope.create(Crate.class).id(CRATES).label("top of " + guest.name());
        SharedList<Crate> inside = SharedList.create(scope, Crate.class);
        Crate above = top;
        for (int i = CRATES - 1; i >= 0; i--) {
            Crate crate = scope.create(Crate.class).id(i).label("crate " + i + " of " + guest.name());
            above.below(Optional.of(crate));
            inside.add(crate);
            above = crate;
        }
        top.inside(inside);
        guest.put(STEP, "top-" + guest.name(), Long.toString(SharedObject.refOf(top)));
        long ref = Long.parseLong(guest.get(STEP, "top-" + guest.partner()));
        ArenaTable space = ArenaTable.create();
        space.add(arena);
        check(CRATE.attach(space, ref), guest.partner());
        guest.meet(STEP, "checked");
        scope.close();
        guest.meet(STEP, "closed");
        try {
            String label = CRATE.attach(space, ref).label();
            throw new IllegalStateException(
                    "a Ref into a scope that " + guest.partner() + " has closed leads to " + label);
        } catch (RefException expected) {
            guest.meet(STEP, "refused");
        }
    }

    private static void check(Crate top, String builder) {
        Guest.require(top.label().equals("top of " + builder), "the root says " + top.label());
        Crate crate = top;
        for (int i = CRATES - 1; i >= 0; i--) {
            crate = crate.below().orElseThrow();
            Guest.require(
                    crate.id() == i && crate.label().equals("crate " + i + " of " + builder),
                    "crate " + i + " says " + crate.id() + ", " + crate.label());
            Guest.require(top.inside().get(CRATES - 1 - i).id() == i, "the list differs at " + i);
        }
    }

    /** Each fills its allocations with a mark of its own and finds them unchanged when it closes them. */
    private static String allocateAtOnce(Guest guest, Pool pool) {
        long before = pool.arena().usedBytes();
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Deque<Marked> open = new ArrayDeque<>();
        guest.meet(STEP, "allocate");
        for (int i = 0; i < ROUNDS; i++) {
            if (open.size() == MOST_SCOPES || (!open.isEmpty() && random.nextInt(3) == 0)) {
                open.removeFirst().checkAndClose(seed);
            } else {
                open.addLast(
                        Marked.in(pool.arena(), 1 + random.nextInt(MOST_BYTES), ((long) guest.number() << 32) + i));
            }
        }
        while (!open.isEmpty()) {
            open.removeFirst().checkAndClose(seed);
        }
        guest.meet(STEP, "allocated");
        long after = pool.arena().usedBytes();
        Guest.require(
                after == before,
                "before " + before + " bytes were in use, now that all is closed " + after + "; seed " + seed);
        return CRATES + " crates of " + guest.partner() + " read by pointer; " + ROUNDS
                + " allocations and frees at once with it, none overlap";
    }

    /** A scope that is full of one number. */
    private record Marked(Scope scope, MemorySegment memory, long mark) {
        static Marked in(Arena arena, long bytes, long mark) {
            Scope scope = arena.newScope();
            long longs = (bytes + 7) / 8;
            MemorySegment memory = arena.memory().asSlice(Ref.offset(scope.allocate(8 * longs)), 8 * longs);
            for (long i = 0; i < longs; i++) {
                memory.setAtIndex(ValueLayout.JAVA_LONG, i, mark);
            }
            return new Marked(scope, memory, mark);
        }

        void checkAndClose(long seed) {
            for (long i = 0; i < memory.byteSize() / 8; i++) {
                long found = memory.getAtIndex(ValueLayout.JAVA_LONG, i);
                Guest.require(
                        found == mark,
                        "memory of " + Long.toHexString(mark) + " holds " + Long.toHexString(found) + "; seed " + seed);
            }
            scope.close();
        }
    }
}
