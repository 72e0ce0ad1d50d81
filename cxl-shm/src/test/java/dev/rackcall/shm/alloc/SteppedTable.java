package dev.rackcall.shm.alloc;

import java.util.Random;

/**
 * A page table that calls back before each step, so that a test can stop, kill or interleave its users between any two
 * steps.
 */
public final class SteppedTable implements PageTable {
    /** Called before each read or change of the table. */
    interface Step {
        void before();
    }

    private final PageTable table;
    private final Step step;

    SteppedTable(PageTable table, Step step) {
        this.table = table;
        this.step = step;
    }

    /** An entry that a hostile participant might write. */
    public static long hostileEntry(Random random) {
        int small = random.nextInt(8);
        return switch (random.nextInt(5)) {
            case 0 -> random.nextLong();
            case 1 -> PageEntry.head(1 + random.nextInt(2), random.nextInt(4), random.nextInt(4), small);
            case 2 -> PageEntry.head(1 + random.nextInt(2), random.nextInt(), random.nextInt(), PageEntry.MAX_LENGTH);
            case 3 -> PageEntry.tail(random.nextInt(), small);
            default -> PageEntry.free(random.nextInt(), random.nextInt());
        };
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

    @Override
    public long group(int group) {
        step.before();
        return table.group(group);
    }

    @Override
    public long markGroup(int group, long bits) {
        step.before();
        return table.markGroup(group, bits);
    }

    @Override
    public void unmarkGroup(int group, long bits) {
        step.before();
        table.unmarkGroup(group, bits);
    }

    @Override
    public long fullGroups(int block) {
        step.before();
        return table.fullGroups(block);
    }

    @Override
    public void markFull(int group) {
        step.before();
        table.markFull(group);
    }

    @Override
    public void unmarkFull(int group) {
        step.before();
        table.unmarkFull(group);
    }
}
