package dev.rackcall.lock;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** Reaches the words by processor instructions. Thread-safe. */
class ProcessorWords implements LockWords {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment table;

    ProcessorWords(MemorySegment table) {
        this.table = table;
    }

    @Override
    public long load(long offset) {
        // Pairs with the releases of store and of the device's WRITEs.
        return (long) WORD.getAcquire(table, offset);
    }

    @Override
    public void store(long offset, long value) {
        // Pairs with the acquire of load, here or in another process, and with the device's READs.
        WORD.setRelease(table, offset, value);
    }

    @Override
    public void publish(long offset, long value) {
        WORD.setVolatile(table, offset, value);
    }

    @Override
    public long compareAndSwap(long offset, long expected, long desired) {
        return (long) WORD.compareAndExchange(table, offset, expected, desired);
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
    public void introduce(long descriptor) {}

    @Override
    public boolean hasBell() {
        return false;
    }

    @Override
    public long rung() {
        return 0;
    }

    @Override
    public void look(long line) {}

    @Override
    public void look(long line, int lines) {}

    @Override
    public long seen(long offset) {
        // Volatile: Peterson's protocol needs its reads after its own writes of tail and victim, in the total order.
        return (long) WORD.getVolatile(table, offset);
    }

    @Override
    public void flush() {}

    @Override
    public boolean isRemote() {
        return false;
    }
}
