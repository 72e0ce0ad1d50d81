package dev.rackcall.shm.alloc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Interleaves processes that share one page table between any two steps, kills them at random, and compares with a
 * model of each page's owner. Processes allocate, free and renew runs, adopt those of others, and reclaim the dead,
 * several at once.
 */
class PageAllocatorInterleavingTest {
    private static final int PAGES = 24;
    private static final int PROCESSES = 4;
    private static final int ROUNDS = 25;
    private static final int SEEDS = 400;

    @Test
    void shouldKeepEveryPageWithOneOwnerWhateverTheOrderOfSteps() throws Throwable {
        long first = System.nanoTime();
        for (long seed = first; seed < first + SEEDS; seed++) {
            try {
                new World(seed).play();
            } catch (Throwable t) {
                throw new AssertionError("seed " + seed, t);
            }
        }
    }

    /** A run as its holder knows it. */
    private static final class Run {
        private final int head;
        private final int length;
        private final Participant holder;
        private final Set<Participant> formerHolders = new HashSet<>();
        private final int epoch;
        private int generation;
        /** Another process has it now, or died while taking it. */
        private boolean lost;

        private Run(Participant holder, int length, long pageRun) {
            this.holder = holder;
            this.head = PageRun.page(pageRun);
            this.length = length;
            this.epoch = PageRun.epoch(pageRun);
            this.generation = PageRun.generation(pageRun);
        }
    }

    private static final class World {
        private final Random random;
        private final PageTable table = PageTable.inHeap(PAGES);
        private final Run[] model = new Run[PAGES];
        private final List<Run> runs = new ArrayList<>();
        private final List<Participant> dead = new ArrayList<>();
        private final Set<Participant> beingReclaimed = new HashSet<>();
        /** Page and generation of every run that any process had a Ref into. */
        private final Set<Long> pastRefs = new HashSet<>();

        private World(long seed) {
            random = new Random(seed);
            if (random.nextBoolean()) {
                for (int page = 0; page < PAGES; page++) {
                    // Wraps around soon.
                    table.compareAndSet(page, table.get(page), PageEntry.free(0, 240 + random.nextInt(16)));
                }
            }
        }

        private void play() throws Throwable {
            Turns turns = new Turns(random);
            List<Participant> processes = new ArrayList<>();
            for (int i = 1; i <= PROCESSES; i++) {
                Participant process =
                        new Participant(this, i, random.nextInt(3) > 0 ? random.nextInt(2_000) : Integer.MAX_VALUE);
                processes.add(process);
                turns.add(process::live);
            }
            turns.run();

            PageAllocator heir = PageAllocator.sharing(table, PROCESSES + 1, () -> PAGES);
            processes.forEach(process -> heir.reclaim(process.number));
            for (int page = 0; page < PAGES; page++) {
                assertThat(PageEntry.state(table.get(page)))
                        .as("page %d at the end", page)
                        .isEqualTo(PageEntry.FREE);
            }
            assertThat(PageRun.page(heir.allocate(PAGES))).isZero();
        }

        private void take(Run run) {
            for (int page = run.head; page < run.head + run.length; page++) {
                Run before = model[page];
                assertThat(before == null || before.lost || beingReclaimed.contains(before.holder))
                        .as("page %d was taken by %d from %s", page, run.holder.number, before)
                        .isTrue();
                model[page] = run;
            }
            runs.add(run);
        }

        /** From now on Refs into the run can exist. They must differ from all stale ones. */
        private void handOut(Run run) {
            for (int page = run.head; page < run.head + run.length; page++) {
                assertThat(pastRefs.add((long) page << Integer.SIZE | run.generation))
                        .as("page %d is of generation %d once more", page, run.generation)
                        .isTrue();
            }
        }

        private void drop(Run run) {
            for (int page = run.head; page < run.head + run.length; page++) {
                if (model[page] == run) {
                    model[page] = null;
                }
            }
            runs.remove(run);
        }
    }

    private static final class Participant {
        private final World world;
        private final int number;
        private final List<Run> held = new ArrayList<>();
        private int stepsToLive;

        private Participant(World world, int number, int stepsToLive) {
            this.world = world;
            this.number = number;
            this.stepsToLive = stepsToLive;
        }

        private void live(Runnable turn) {
            PageTable stepped = new SteppedTable(world.table, () -> {
                if (stepsToLive-- == 0) {
                    throw new Killed();
                }
                turn.run();
            });
            PageAllocator pages = PageAllocator.sharing(stepped, number, () -> PAGES);
            try {
                for (int round = 0; round < ROUNDS; round++) {
                    act(pages);
                }
                while (!held.isEmpty()) {
                    free(pages, held.getLast());
                }
                pages.flush();
            } catch (Killed e) {
                world.dead.add(this);
                throw e;
            }
        }

        private void act(PageAllocator pages) {
            switch (world.random.nextInt(8)) {
                case 0, 1 -> allocate(pages);
                case 2 -> {
                    if (!held.isEmpty()) {
                        free(pages, held.get(world.random.nextInt(held.size())));
                    }
                }
                case 3 -> {
                    if (!held.isEmpty()) {
                        renew(pages, held.get(world.random.nextInt(held.size())));
                    }
                }
                case 4 -> {
                    if (!world.runs.isEmpty()) {
                        adopt(pages, world.runs.get(world.random.nextInt(world.runs.size())));
                    }
                }
                case 5, 6 -> pages.flush();
                default -> {
                    for (Participant dead : List.copyOf(world.dead)) {
                        world.beingReclaimed.add(dead);
                        pages.reclaim(dead.number);
                    }
                }
            }
        }

        private void allocate(PageAllocator pages) {
            int length = 1 + world.random.nextInt(5);
            long pageRun = pages.allocate(length);
            if (pageRun == PageRun.NONE) {
                pageRun = pages.allocateFromOthers(length);
            }
            if (pageRun != PageRun.NONE) {
                Run run = new Run(this, length, pageRun);
                held.add(run);
                world.take(run);
                world.handOut(run);
            }
        }

        private void free(PageAllocator pages, Run run) {
            held.remove(run);
            world.drop(run);
            boolean freed = pages.free(run.head, run.generation);
            assertThat(freed || run.lost)
                    .as("a free that failed though no process took the run")
                    .isTrue();
            // Only its own free or another's adoption can have succeeded, unless the other died before the model knew.
            assertThat(freed && run.lost && !anyoneDead())
                    .as("a run that was freed and adopted")
                    .isFalse();
        }

        private void renew(PageAllocator pages, Run run) {
            // With its last generation the run's pages are freed and claimed again.
            boolean moves = run.generation + 1 == PageEntry.LAST_GENERATION;
            if (moves) {
                held.remove(run);
                world.drop(run);
            }
            long renewed = pages.renew(run.head, run.generation, run.epoch);
            if (moves && !PageRun.isBlocked(renewed)) {
                Run next = new Run(this, run.length, renewed);
                held.add(next);
                world.take(next);
                world.handOut(next);
            } else if (!PageRun.isBlocked(renewed)) {
                run.generation = PageRun.generation(renewed);
                world.handOut(run);
            } else if (!moves) {
                assertThat(run.lost).isTrue();
                held.remove(run);
                world.drop(run);
            }
        }

        private void adopt(PageAllocator pages, Run run) {
            // A process that gets its former run back cannot tell its old claim from the new one.
            if (run.holder == this || run.formerHolders.contains(this)) {
                return;
            }
            int generation = run.generation;
            boolean adopted;
            try {
                adopted = pages.takeOver(run.head, pages.heldBy(run.holder.number, run.head, generation));
            } catch (Killed e) {
                run.lost = true;
                throw e;
            }
            if (adopted) {
                run.lost = true;
                long entry = PageEntry.head(number, run.epoch, generation, run.length);
                Run mine = new Run(this, run.length, PageRun.of(run.head, entry));
                mine.formerHolders.addAll(run.formerHolders);
                mine.formerHolders.add(run.holder);
                held.add(mine);
                world.take(mine);
                world.runs.remove(run);
            }
        }

        private boolean anyoneDead() {
            return !world.dead.isEmpty();
        }
    }
}
