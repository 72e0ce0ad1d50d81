package dev.rackcall.verbs.soft;

import static dev.rackcall.verbs.soft.FrameLayout.LONG;

import dev.rackcall.verbs.Opcode;
import java.lang.foreign.MemorySegment;

/** Does an atomic and keeps what was there before. */
final class OldValue {
    private long value;

    long get() {
        return value;
    }

    /** @return false if the region is not there any more */
    boolean exchange(
            Object deviceLock, SoftMemoryRegion region, Opcode opcode, MemorySegment frame, long at, long address) {
        long operand = frame.get(LONG, at + FrameLayout.COMPARE_ADD);
        if (!region.enter()) {
            return false;
        }
        try {
            synchronized (deviceLock) {
                value = opcode == Opcode.FETCH_AND_ADD
                        ? region.fetchAndAdd(address, operand)
                        : region.compareAndSwap(address, operand, frame.get(LONG, at + FrameLayout.SWAP));
            }
            return true;
        } catch (IllegalStateException | InternalError gone) {
            return false;
        } finally {
            region.exit();
        }
    }
}
