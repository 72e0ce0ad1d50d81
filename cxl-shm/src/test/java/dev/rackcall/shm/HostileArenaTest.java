package dev.rackcall.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.rackcall.shm.alloc.SteppedTable;
import dev.rackcall.shm.os.file.HostileFile;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/**
 * Whatever an arena's header, table and runs hold, each operation ends in bounded time with a result or a documented
 * exception.
 */
class HostileArenaTest {
    private static final int ID = 7;
    private static final long QUOTA = 1 << 20;
    private static final int PAGES = (int) (QUOTA >>> ArenaLayout.PAGE_SHIFT);
    private static final int SEEDS = 300;
    private static final int OPERATIONS = 60;

    @Test
    void shouldAnswerWhateverTheTableHolds() {
        long first = System.nanoTime();
        for (long seed = first; seed < first + SEEDS; seed++) {
            Random random = new Random(seed);
            try (SharedFile file = SharedFile.memfd("hostile", QUOTA);
                    Mapping mapping = file.map()) {
                Arena mine = Arena.create(spec(mapping, file, 1));
                Arena theirs = Arena.attach(spec(mapping, file, 2));
                List<Scope> scopes = new ArrayList<>();
                List<Long> refs = new ArrayList<>();
                for (int i = 0; i < OPERATIONS; i++) {
                    if (random.nextInt(4) == 0) {
                        scribble(mine.memory(), random);
                    }
                    operate(random.nextBoolean() ? mine : theirs, scopes, refs, random, seed);
                }
                for (Scope scope : scopes) {
                    attempt(scope::close, seed);
                }
            }
        }
    }

    @Test
    void shouldEndWhileAPeerScribblesWithoutPause() throws InterruptedException {
        operateBeside((file, memory, random) -> scribble(memory, random));
    }

    /** Also under the page table, where taken pages then read as free. */
    @Test
    void shouldEndWhileAPeerPunchesHoles() throws InterruptedException {
        operateBeside((file, memory, random) -> HostileFile.punchHole(
                file, (long) random.nextInt(PAGES) << ArenaLayout.PAGE_SHIFT, (1 + random.nextInt(8)) * 4096L));
    }

    private interface Peer {
        void act(SharedFile file, MemorySegment memory, Random random);
    }

    private static void operateBeside(Peer hostile) throws InterruptedException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        AtomicBoolean stop = new AtomicBoolean();
        try (SharedFile file = SharedFile.memfd("hostile", QUOTA);
                Mapping mapping = file.map()) {
            Arena arena = Arena.create(spec(mapping, file, 1));
            Thread peer = Thread.ofPlatform().start(() -> {
                Random own = new Random(seed + 1);
                while (!stop.get()) {
                    hostile.act(file, arena.memory(), own);
                }
            });
            try {
                List<Scope> scopes = new ArrayList<>();
                List<Long> refs = new ArrayList<>();
                for (int i = 0; i < 3_000; i++) {
                    operate(arena, scopes, refs, random, seed);
                }
            } finally {
                stop.set(true);
                peer.join();
            }
        }
    }

    private static ArenaSpec spec(Mapping mapping, SharedFile file, int participant) {
        return new ArenaSpec(ID, mapping.memory(), file, 0, TableHome.SHARED, participant, 16 << 10);
    }

    private static void scribble(MemorySegment memory, Random random) {
        long page = random.nextInt(PAGES);
        switch (random.nextInt(4)) {
            case 0 -> ArenaLayout.publishReserved(memory, random.nextBoolean() ? random.nextLong() : random.nextInt());
            case 1 -> memory.set(ValueLayout.JAVA_LONG, page << ArenaLayout.PAGE_SHIFT, random.nextLong());
            case 2 -> {
                long ref = Ref.of(ID, random.nextInt(3), (long) random.nextInt(PAGES) << ArenaLayout.PAGE_SHIFT);
                memory.set(ValueLayout.JAVA_LONG, (page << ArenaLayout.PAGE_SHIFT) + 8L * random.nextInt(2), ref);
            }
            default ->
                memory.set(
                        ValueLayout.JAVA_LONG,
                        ArenaLayout.TABLE + page * Long.BYTES,
                        SteppedTable.hostileEntry(random));
        }
    }

    private static void operate(Arena arena, List<Scope> scopes, List<Long> refs, Random random, long seed) {
        long known = refs.isEmpty() ? Ref.NULL : refs.get(random.nextInt(refs.size()));
        long ref = switch (random.nextInt(4)) {
            case 0 -> random.nextLong();
            case 1 -> Ref.of(ID, random.nextInt(4), (long) random.nextInt(PAGES + 2) << ArenaLayout.PAGE_SHIFT);
            case 2 -> Ref.of(ID, Ref.generation(known) + 1, Ref.offset(known) + 8);
            default -> known;
        };
        ArenaTable table = ArenaTable.create();
        table.add(arena);
        attempt(
                () -> {
                    switch (random.nextInt(12)) {
                        case 0 -> refs.add(arena.allocateRun(1 + random.nextInt(20_000)));
                        case 1 -> arena.freeRun(ref);
                        case 2 -> assertThat(arena.runBytes(ref)).isBetween(1L, QUOTA);
                        case 3, 4 -> scopes.add(arena.newScope(random.nextInt(20_000)));
                        case 5 -> arena.reclaim(random.nextInt(4));
                        case 6 -> scopes.add(arena.adopt(ref, random.nextInt(4)));
                        case 7 -> table.memory(ref).get(ValueLayout.JAVA_LONG, table.offset(ref) & -8L);
                        case 8 ->
                            assertThat(arena.freeBytes() + arena.usedBytes()).isBetween(-QUOTA, 2 * QUOTA);
                        case 9 -> {
                            if (!scopes.isEmpty()) {
                                scopes.get(random.nextInt(scopes.size())).reset();
                            }
                        }
                        case 10 -> {
                            if (!scopes.isEmpty()) {
                                scopes.remove(random.nextInt(scopes.size())).close();
                            }
                        }
                        default -> {
                            if (!scopes.isEmpty()) {
                                refs.add(scopes.get(random.nextInt(scopes.size()))
                                        .allocate(random.nextInt(9_000)));
                            }
                        }
                    }
                },
                seed);
    }

    private static void attempt(Runnable operation, long seed) {
        try {
            operation.run();
        } catch (RefException | OutOfArenaException | ScopeException expected) {
            assertThat(expected.getMessage()).isNotBlank();
        } catch (RuntimeException e) {
            fail("seed " + seed, e);
        }
    }
}
