package dev.rackcall.shm;

import dev.rackcall.shm.alloc.PageEntry;
import dev.rackcall.shm.alloc.PageTable;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * A small arena that a few processes share in an order that a seed decides. After each step it checks whether the step
 * was allowed: no process changes what a living process uses, except by adopting a scope by its Ref, and each ends only
 * what it has. It counts the uses of each page, since generations and epochs only tell the last ones apart.
 */
final class ScheduledArena {
    static final int PROCESSES = 3;
    static final int LETTERS = 3;

    private static final int ARENA_ID = 7;
    private static final int HEIR = PROCESSES + 1;
    private static final int MAX_PAGES = 8;
    private static final int MAX_DEATHS = 3;
    private static final int EPOCHS = 1 << 18;
    private static final long MAIL_BYTES = ArenaLayout.PAGE;
    /** The arena's header, and its page table. */
    private static final long FIRST_PAGE = 2 * ArenaLayout.PAGE;

    /** Length of the memory: mail, then the arena. */
    static final long BYTES = MAIL_BYTES + FIRST_PAGE + MAX_PAGES * ArenaLayout.PAGE;

    private static final VarHandle LETTER = ValueLayout.JAVA_LONG.varHandle();

    /** A Ref led to a later scope with the same generation, which no code can detect. */
    private static final class Misled extends Error {
        private static final long serialVersionUID = 1;

        Misled() {
            super("", null, false, false);
        }
    }

    /** A Ref that was sent, and the page uses that its scope consists of. */
    record Letter(long ref, Set<Long> uses) {}

    /** A run outside any scope. Only its holder may change it while the holder lives. */
    record Run(ScheduledProcess holder, long ref, int page, int pages) {
        @Override
        public String toString() {
            return "the run of " + pages + " pages at page " + page + " of generation " + Ref.generation(ref);
        }
    }

    private final SharedFile file;
    private final MemorySegment memory;
    private final MemorySegment region;
    private final Random random;
    private final ArenaSchedule schedule;
    private final PageTable table;
    private final Arena heir;
    private final int pages;
    private final List<ScheduledProcess> processes = new ArrayList<>();
    private final List<Run> runs = new ArrayList<>();
    private final Letter[] letters = new Letter[LETTERS];
    /** The pages' entries at the last check. */
    private final long[] entries;

    /** How often each page became the head of a run. */
    private final long[] uses;

    ScheduledArena(SharedFile file, MemorySegment memory, int generations, long seed) {
        this.file = file;
        this.memory = memory;
        random = new Random(seed);
        pages = 2 + random.nextInt(MAX_PAGES - 1);
        entries = new long[pages];
        uses = new long[pages];
        region = memory.asSlice(MAIL_BYTES, FIRST_PAGE + pages * ArenaLayout.PAGE);
        memory.fill((byte) 0);
        heir = Arena.create(spec(HEIR));
        table = PageTable.shared(region.asSlice(ArenaLayout.TABLE, PageTable.bytes(pages)), pages);
        int epoch = random.nextBoolean() ? EPOCHS - 1 - random.nextInt(8) : random.nextInt(EPOCHS);
        for (int page = 0; page < pages; page++) {
            entries[page] = PageEntry.free(epoch + random.nextInt(4), random.nextInt(generations));
            table.compareAndSet(page, 0, entries[page]);
        }
        schedule = new ArenaSchedule(random, PROCESSES, random.nextInt(MAX_DEATHS + 1), this::look);
        int longest = 1 + random.nextInt(pages);
        boolean sendsAgain = random.nextBoolean();
        for (int number = 1; number <= PROCESSES; number++) {
            ScheduledProcess process = new ScheduledProcess(this, number, random, longest, sendsAgain);
            processes.add(process);
            schedule.add(process::live);
        }
    }

    ArenaSpec spec(int participant) {
        return new ArenaSpec(
                ARENA_ID, region, file, MAIL_BYTES, TableHome.SHARED, participant, pages * ArenaLayout.PAGE);
    }

    ArenaSchedule schedule() {
        return schedule;
    }

    List<ScheduledProcess> processes() {
        return processes;
    }

    /** Called before each access to shared memory. */
    void step() {
        schedule.step();
    }

    /** Runs until all processes have ended or are dead; returns the number of steps. */
    long play() {
        try {
            schedule.run();
        } catch (Misled end) {
            return schedule.steps();
        }
        schedule.atOnce(() -> {
            processes.forEach(process -> heir.reclaim(process.number()));
            require(heir.usedBytes() == 0, "pages are lost");
            require(heir.freeRun(heir.allocateRun(pages * ArenaLayout.PAGE)), "what was just allocated is there");
        });
        return schedule.steps();
    }

    // ---- what processes tell

    /** Checks now, since the result of an operation is known only after it. */
    void lookNow() {
        schedule.atOnce(this::look);
    }

    Run handedOut(ScheduledProcess to, long ref, int length) {
        Run run = new Run(to, ref, pageOf(ref), length);
        for (Run other : runs) {
            boolean apart = other.page + other.pages <= run.page || run.page + run.pages <= other.page;
            require(apart, to + " got " + run + ", but there is " + other + " of " + other.holder);
        }
        runs.add(run);
        return run;
    }

    /** The use of the run's first page. */
    Set<Long> useAt(Run run) {
        return Set.of(use(run.page));
    }

    void isAboutToFree(Run run) {
        runs.remove(run);
    }

    void hasDied(ScheduledProcess process) {
        runs.removeIf(run -> run.holder == process);
    }

    void send(Letter letter) {
        int slot = random.nextInt(LETTERS);
        LETTER.setRelease(memory, (long) slot * Long.BYTES, letter.ref);
        letters[slot] = letter;
    }

    /** A letter that was sent earlier; its Ref is 0 if there is none. */
    Letter receive() {
        int slot = random.nextInt(LETTERS);
        long ref = (long) LETTER.getAndSet(memory, (long) slot * Long.BYTES, 0L);
        return ref == 0 ? new Letter(0, Set.of()) : letters[slot];
    }

    // ---- judging

    /** Checks what the running process has done since the last check. */
    private void look() {
        ScheduledProcess actor = processes.get(schedule.turn());
        for (int page = 0; page < pages; page++) {
            long entry = table.get(page);
            if (entry != entries[page]) {
                long old = entries[page];
                entries[page] = entry;
                judge(actor, page, old, entry);
            }
        }
        for (ScheduledProcess process : processes) {
            Letter letter = process.adopts();
            if (letter != null) {
                int head = headOf(pageOf(letter.ref), entries[pageOf(letter.ref)]);
                if (PageEntry.generation(entries[head]) == Ref.generation(letter.ref)
                        && !letter.uses.contains(use(head))) {
                    process.isMisled();
                }
            }
        }
    }

    private void judge(ScheduledProcess actor, int page, long old, long entry) {
        boolean becomesHead = PageEntry.state(entry) == PageEntry.HEAD;
        boolean handedOver = PageEntry.state(old) == PageEntry.HEAD
                && entry == PageEntry.owned(old, actor.number())
                && PageEntry.owner(old) != actor.number();
        int head = headOf(page, old);
        long headEntry = head == page ? old : entries[head];
        int owner = PageEntry.owner(headEntry);
        boolean wasInUse = PageEntry.state(headEntry) == PageEntry.HEAD
                && (head == page || PageEntry.epoch(headEntry) == PageEntry.epoch(old));
        if (wasInUse && owner == actor.number()) {
            require(
                    head != page || actor.mayEnd(use(page)),
                    actor + " ends what it has not, or no longer: page " + page);
        } else if (wasInUse && !processes.get(owner - 1).isDead()) {
            judgeAdoption(actor, page, handedOver, processes.get(owner - 1));
        }
        if (becomesHead) {
            uses[page] += handedOver ? 0 : 1;
            actor.gains(use(page));
        }
    }

    private void judgeAdoption(ScheduledProcess actor, int page, boolean handedOver, ScheduledProcess owner) {
        Letter letter = actor.adopts();
        require(handedOver && letter != null, actor + " changes page " + page + " of " + owner);
        if (letter.uses.contains(use(page))) {
            return;
        }
        for (Run run : runs) {
            require(run.page != page, actor + " takes " + run + " of " + owner);
        }
        require(!owner.isAllocating(use(page)), actor + " takes page " + page + ", which is to be a run of " + owner);
        require(actor.wasMisled(), actor + " takes page " + page + ", which is of another scope, of " + owner);
        throw new Misled();
    }

    private static int headOf(int page, long entry) {
        return PageEntry.state(entry) == PageEntry.TAIL ? page - PageEntry.length(entry) : page;
    }

    private long use(int page) {
        return (long) page << Integer.SIZE | uses[page];
    }

    private static int pageOf(long ref) {
        return (int) ((Ref.offset(ref) - FIRST_PAGE) >>> ArenaLayout.PAGE_SHIFT);
    }

    void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what + state());
        }
    }

    private String state() {
        StringBuilder text = new StringBuilder(", at step " + schedule.steps());
        for (int page = 0; page < pages; page++) {
            long entry = entries[page];
            text.append(String.format(
                    "%n  page %d, use %d: %s owner %d epoch %d generation %d length or distance %d",
                    page,
                    uses[page],
                    List.of("FREE", "HEAD", "TAIL", "IDLE").get(PageEntry.state(entry)),
                    PageEntry.owner(entry),
                    PageEntry.epoch(entry),
                    PageEntry.generation(entry),
                    PageEntry.length(entry)));
        }
        for (ScheduledProcess process : processes) {
            text.append("\n  ").append(process).append(process.trace());
        }
        return text.toString();
    }
}
