package dev.rackcall.shm.types;

import java.lang.foreign.MemorySegment;

/**
 * Copies short ASCII text into shared memory without allocating. Most text is short: for it, an array of bytes costs
 * more than the copy. Longer text is encoded by the JDK, which vectorises.
 */
final class AsciiText {
    private static final int LONGEST = 128;
    private static final int FIRST_BEYOND = 0x80;

    private AsciiText() {}

    /** Whether {@link #put} takes this text. */
    static boolean isShort(String text) {
        int chars = text.length();
        if (chars > LONGEST) {
            return false;
        }
        int seen = 0;
        for (int i = 0; i < chars; i++) {
            seen |= text.charAt(i);
        }
        return seen < FIRST_BEYOND;
    }

    /** Stores text that {@link #isShort} accepted, eight characters at a time. */
    static void put(String text, MemorySegment memory, long at) {
        int chars = text.length();
        int done = 0;
        for (; done + Long.BYTES <= chars; done += Long.BYTES) {
            long eight = 0;
            for (int i = 0; i < Long.BYTES; i++) {
                eight |= (long) text.charAt(done + i) << (i * Byte.SIZE);
            }
            memory.set(ObjectLayout.LONG, at + done, eight);
        }
        for (; done < chars; done++) {
            memory.set(ObjectLayout.BYTE, at + done, (byte) text.charAt(done));
        }
    }
}
