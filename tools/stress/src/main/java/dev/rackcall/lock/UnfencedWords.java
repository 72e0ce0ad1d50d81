package dev.rackcall.lock;

/** A planted bug, see {@link PlantedUnfencedTailStress}. */
final class UnfencedWords implements LockWords {
    private final LockWords words;

    UnfencedWords(LockWords words) {
        this.words = words;
    }

    @Override
    public long compareAndSwap(long offset, long expected, long desired) {
        long seen = words.load(offset);
        if (seen == expected) {
            words.store(offset, desired);
        }
        return seen;
    }

    @Override
    public long compareAndSwapAndLook(long offset, long expected, long desired, long line) {
        return compareAndSwap(offset, expected, desired);
    }

    @Override
    public long grant(long descriptor, long waits, long granted, long ring) {
        return compareAndSwap(descriptor + LockLayout.STATE, waits, granted);
    }

    @Override
    public long load(long offset) {
        return words.load(offset);
    }

    @Override
    public void store(long offset, long value) {
        words.store(offset, value);
    }

    @Override
    public void publish(long offset, long value) {
        words.publish(offset, value);
    }

    @Override
    public void introduce(long descriptor) {
        words.introduce(descriptor);
    }

    @Override
    public boolean hasBell() {
        return words.hasBell();
    }

    @Override
    public long rung() {
        return words.rung();
    }

    @Override
    public void look(long line) {
        words.look(line);
    }

    @Override
    public void look(long line, int lines) {
        words.look(line, lines);
    }

    @Override
    public long seen(long offset) {
        return words.seen(offset);
    }

    @Override
    public void flush() {
        words.flush();
    }

    @Override
    public boolean isRemote() {
        return words.isRemote();
    }
}
