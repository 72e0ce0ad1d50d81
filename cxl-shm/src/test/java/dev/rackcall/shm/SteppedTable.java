package dev.rackcall.shm;

/** A page table that asks before each step, so that a test can stop, kill or interleave its users between any two of them. */
final class SteppedTable implements PageTable {
    /** What happens before each look at, or change of, the table. */
    interface Step {
        void before();
    }

    private final PageTable table;
    private final Step step;

    SteppedTable(PageTable table, Step step) {
        this.table = table;
        this.step = step;
    }

    @Override
    public int pages() {
        return table.pages();
    }

    @Override
    public long get(int page) {
        step.before();
        return table.get(page);
    }

    @Override
    public boolean compareAndSet(int page, long expected, long entry) {
        step.before();
        return table.compareAndSet(page, expected, entry);
    }
}
