package dev.rackcall.rack.guest;

import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.PoolCommons;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Random;

/**
 * A lends a window of the pool to its RDMA device. C, which shares no memory, writes there, and B sees it in the pool;
 * no program of A touches it.
 */
final class RdmaStep implements Guest.Work {
    private static final Step STEP = Step.RDMA;
    private static final int PIECE = 256 << 10;
    private static final int PIECES = 4;
    private static final int ADDS = 100;
    /** C's data begins here; the word that it counts on lies before it. */
    private static final int START = 4096;

    private static final long LENGTH = START + (long) PIECES * PIECE + 4096;
    private static final long SEED = 7;

    @Override
    public String run(Guest guest) throws Exception {
        return switch (guest.name()) {
            case "A" -> lend(guest);
            case "B" -> see(guest);
            default -> write(guest);
        };
    }

    private static String lend(Guest guest) throws Exception {
        try (Pool pool = Pool.dax(Guest.DEVICE, guest.number())) {
            PoolCommons commons = pool.commons().orElseThrow();
            long place = commons.takeWindow(LENGTH);
            try (SharedFile file = commons.window(place, commons.windowBytes(LENGTH));
                    Mapping mapping = file.map()) {
                MemorySegment lent = mapping.memory().asSlice(0, LENGTH).fill((byte) 0);
                try (RdmaEnd end = RdmaEnd.open(lent, EnumSet.allOf(Access.class))) {
                    guest.put(STEP, "place", Long.toString(place));
                    guest.put(STEP, "A", end.describe());
                    end.connect(guest.get(STEP, "C"));
                    guest.put(STEP, "ready", "");
                    guest.get(STEP, "seen");
                }
            }
            commons.give(place);
            return "lent " + LENGTH + " bytes of /dev/dax0.0 to rxe0";
        }
    }

    private static String see(Guest guest) {
        try (Pool pool = Pool.dax(Guest.DEVICE, guest.number())) {
            long place = Long.parseLong(guest.get(STEP, "place"));
            guest.get(STEP, "written");
            MemorySegment seen = pool.commons().orElseThrow().memory().asSlice(place, LENGTH);
            long word = seen.get(ValueLayout.JAVA_LONG, 0);
            Guest.require(word == ADDS, ADDS + " additions gave " + word);
            MemorySegment written = seen.asSlice(START, (long) PIECES * PIECE);
            Guest.require(written.mismatch(MemorySegment.ofArray(pattern())) < 0, "what C wrote differs");
            Guest.require(isZero(seen.asSlice(8, START - 8)), "something was written before it");
            Guest.require(isZero(seen.asSlice(LENGTH - 4096)), "something was written after it");
            guest.put(STEP, "seen", "");
            return PIECES * PIECE + " bytes and " + ADDS + " additions of C's are there, and nothing else";
        }
    }

    private static boolean isZero(MemorySegment memory) {
        return memory.mismatch(MemorySegment.ofArray(new byte[(int) memory.byteSize()])) < 0;
    }

    private static String write(Guest guest) throws Exception {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment own = arena.allocate(2L * PIECES * PIECE + 4096, 4096);
            MemorySegment.copy(pattern(), 0, own, ValueLayout.JAVA_BYTE, 0, PIECES * PIECE);
            try (RdmaEnd end = RdmaEnd.open(own, EnumSet.of(Access.LOCAL_WRITE))) {
                guest.put(STEP, "C", end.describe());
                end.connect(guest.get(STEP, "A"));
                guest.get(STEP, "ready");
                return write(guest, end, own);
            }
        }
    }

    private static String write(Guest guest, RdmaEnd end, MemorySegment own) {
        WorkRequest request = WorkRequest.create(1, 0);
        long back = (long) PIECES * PIECE;
        long start = System.nanoTime();
        for (int i = 0; i < PIECES; i++) {
            end.run(
                    end.write(request, START + (long) i * PIECE).from(end.region(), (long) i * PIECE, PIECE),
                    CompletionStatus.SUCCESS);
        }
        for (int i = 0; i < PIECES; i++) {
            end.run(
                    end.read(request, START + (long) i * PIECE).from(end.region(), back + (long) i * PIECE, PIECE),
                    CompletionStatus.SUCCESS);
        }
        long millis = (System.nanoTime() - start) / 1_000_000;
        Guest.require(
                own.asSlice(0, back).mismatch(own.asSlice(back, back)) < 0,
                "what was read back differs from what was written");
        for (int i = 0; i < ADDS; i++) {
            end.run(end.add(request, 0, 1).from(end.region(), 2 * back, 8), CompletionStatus.SUCCESS);
            long before = own.get(ValueLayout.JAVA_LONG, 2 * back);
            Guest.require(before == i, "addition " + i + " found " + before);
        }
        guest.put(STEP, "written", "");
        end.run(end.write(request, LENGTH).from(end.region(), 0, 8), CompletionStatus.REMOTE_ACCESS_ERROR);
        guest.get(STEP, "seen");
        return "1 MiB written and read back in " + millis + " ms, " + ADDS
                + " additions; a write past the end was refused";
    }

    private static byte[] pattern() {
        byte[] bytes = new byte[PIECES * PIECE];
        new Random(SEED).nextBytes(bytes);
        return bytes;
    }
}
